// A head's card: what it does, why we say so, and its numbers against those of all other heads.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { percent, signed } from "../drawing/canvas";
import { inkOn, rgbOf } from "../drawing/colours";
import type { Head, NearestMiss, Report, Written } from "../schema";
import { ExemplarLines } from "./ExemplarLines";
import { Exemplars } from "./Exemplars";
import { familyColour, familyOf, markOf } from "./families";
import { Numbers } from "./Numbers";
import { MapPicture, ProfilePicture } from "./Pictures";
import { useReport } from "./shown";
import { usePicture } from "./usePicture";

interface Props {
  at: number; // which of the heads
  open?: () => void; // shows the drawn exemplar in the views; undefined: nobody can
  children?: ComponentChildren; // the live page's own part of the card, in place of the exemplars in the report
}

export function CardPanel({ at, open, children }: Props) {
  const { report, change } = useReport();
  const ref = useRef<HTMLElement>(null);
  const head = report.heads[at];
  const step = (by: number) => change({ head: report.heads[(at + by + report.heads.length) % report.heads.length].label });
  useEffect(() => {
    ref.current?.scrollTo(0, 0);
    if (ref.current && getComputedStyle(ref.current).position === "fixed") ref.current.focus(); // it covers the rest
  }, [at]);
  return (
    <aside class="card-panel" ref={ref} tabIndex={-1} aria-label={`Card of head ${head.label}`} data-card={head.label}>
      <header class="card-head">
        <h2>Head {head.label}</h2>
        <button type="button" class="quiet" title="The head before" onClick={() => step(-1)}>
          ‹
        </button>
        <button type="button" class="quiet" title="The next head" onClick={() => step(1)}>
          ›
        </button>
        <button type="button" class="quiet" name="close" title="Close the card (Esc)" onClick={() => change({ head: "" })}>
          ✕
        </button>
      </header>
      <p class="place">
        layer {head.layer} of {layersOf(report, head)}, head {head.head} of {headsOf(report, head)} (both from 0)
        {new Set(report.heads.map((one) => one.group)).size > 1 && `, ${head.group} attention`}
      </p>
      <RoleChip family={head.family} role={head.role} />
      <p class="says">{head.says}</p>
      <Drawn head={head} open={open} />
      <Writes head={head} />
      <section>
        <h3>{head.nearest ? "No rule holds; the nearest miss" : "The rule that gave this name"}</h3>
        {head.nearest ? (
          <Missed {...head.nearest} />
        ) : (
          <p class="rule">{head.family === "none" ? "None: no rule holds for it." : head.rule}</p>
        )}
        {head.also.length > 0 && <p class="faint">These hold too: {head.also.join("; ")}</p>}
        {head.other && (
          <p class="second">
            In run B: <b>{head.other.role}</b> <span class="faint">({head.other.rule})</span>
          </p>
        )}
      </section>
      <WithoutIt head={head} />
      <Special head={head} />
      <Tested head={head} />
      <Numbers at={at} />
      {children ?? <Exemplars exemplars={head.exemplars} />}
      <Nearest at={at} />
    </aside>
  );
}

/** The head in pictures; nothing where the run has counted nothing to draw. */
function Drawn({ head, open }: { head: Head; open?: () => void }) {
  const picture = usePicture(head);
  if (!picture) return null;
  const { map, profile, exemplar } = picture;
  return (
    <section class="pictures" aria-label="The head in pictures">
      {map && <MapPicture map={map} />}
      {profile && <ProfilePicture profile={profile} />}
      {exemplar && <ExemplarLines key={head.name} exemplar={exemplar} open={open} />}
    </section>
  );
}

function RoleChip({ family, role }: { family: string; role: string }) {
  const { report, dark } = useReport();
  const background = familyColour(report, family, dark);
  const mark = markOf(report, role);
  return (
    <p class="role-chip" style={{ background, color: inkOn(rgbOf(background)) }} data-role={role} title={familyOf(report, family).about}>
      {/^\W+$/.test(mark) && family !== "none" && <span aria-hidden="true">{mark}</span>}
      {role}
    </p>
  );
}

/** The role that a head comes nearest to: how much of it is there, and a line where it would have the name. */
function Missed({ says, score, needed }: NearestMiss) {
  return (
    <div class="missed">
      <p class="rule">{says}</p>
      <span class="bar" aria-hidden="true">
        <i class="baseline" style={{ width: `${100 * Math.min(1, score)}%` }} />
        <b style={{ left: `${100 * Math.min(1, needed)}%` }} />
      </span>
    </div>
  );
}

/** The tokens that its output makes more and less likely in the text that is drawn. */
function Writes({ head }: { head: Head }) {
  if (!head.writes) return null;
  const { at, more, less } = head.writes;
  return (
    <section class="writes">
      <h3>
        What it writes at <mark class="attending">{at}</mark>, by up to {Math.max(more[0].logit, -less[0].logit).toFixed(2)} of a logit
      </h3>
      <dl>
        <WrittenTokens name="more likely" tokens={more} />
        <WrittenTokens name="less likely" tokens={less} />
      </dl>
    </section>
  );
}

function WrittenTokens({ name, tokens }: { name: string; tokens: Written[] }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>
        {tokens.map(({ token, logit }) => (
          <span key={token} class={logit < 0 ? "token less" : "token"} title={`${signed(logit)} of its logit`}>
            <bdi>{token}</bdi>
          </span>
        ))}
      </dd>
    </>
  );
}

/** What becomes of the model without it, and whether its name holds. */
function WithoutIt({ head }: { head: Head }) {
  if (!head.without) return null;
  const { says, confirmed } = head.without;
  return (
    <section class="without-it">
      <h3>
        Without it{confirmed === true && <span class="verdict"> ✓ confirmed</span>}
        {confirmed === false && <span class="verdict"> by its pattern only</span>}
      </h3>
      {says.map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
    </section>
  );
}

/** How much goes to the first token and separators: the sinks of most heads. */
function Special({ head }: { head: Head }) {
  const { weight, norm } = head.special;
  if (weight === null && norm === null) return null;
  return (
    <section>
      <h3>Share on the first token and separators</h3>
      <div class="bars">
        {weight !== null && <Bar label="by weight: how much it looks" share={weight} />}
        {norm !== null && <Bar label="by norm: how much it takes" share={norm} />}
      </div>
    </section>
  );
}

/** How often it is right where the right answer is known, beside what a simple rule would get. */
function Tested({ head }: { head: Head }) {
  const { relation, antecedents } = head;
  return (
    <>
      {relation && (
        <section>
          <h3>
            Best relation: {relation.name}, {relation.direction} ({relation.cases.toLocaleString("en")} cases)
          </h3>
          <div class="bars">
            <Bar label="looks at the right word" share={relation.accuracy} />
            {relation.baseline !== null && <Bar label="best fixed distance" share={relation.baseline} baseline />}
          </div>
          {relation.baseline !== null && relation.accuracy <= relation.baseline && (
            <p class="faint">No relation is found better than by looking at a fixed distance.</p>
          )}
        </section>
      )}
      {antecedents && (
        <section>
          <h3>Antecedents of pronouns, names and nouns ({antecedents.cases.toLocaleString("en")} cases)</h3>
          <div class="bars">
            <Bar label="looks at the antecedent" share={antecedents.accuracy} />
            {antecedents.baseline !== null && <Bar label="a simple rule" share={antecedents.baseline} baseline />}
          </div>
        </section>
      )}
    </>
  );
}

function Bar({ label, share, baseline }: { label: string; share: number; baseline?: boolean }) {
  return (
    <>
      <span>{label}</span>
      <span class="bar">
        <i class={baseline ? "baseline" : undefined} style={{ width: `${100 * Math.min(1, Math.max(0, share))}%` }} />
      </span>
      <b>{percent(share)}</b>
    </>
  );
}

function Nearest({ at }: { at: number }) {
  const { report, change } = useReport();
  const scatter = report.scatters.find((one) => one.heads.includes(at));
  if (!scatter) return null;
  return (
    <section>
      <h3>Heads that look most alike (Jensen-Shannon divergence, 0 to 0.69)</h3>
      <p class="neighbours">
        {scatter.nearest[scatter.heads.indexOf(at)].map(({ head, distance }) => (
          <span key={head}>
            <button type="button" class="head-link" onClick={() => change({ head: report.heads[head].label })}>
              {report.heads[head].label}
            </button>{" "}
            {distance.toFixed(2)} <span class="faint">{report.heads[head].role}</span>
          </span>
        ))}
      </p>
    </section>
  );
}

function layersOf(report: Report, head: Head): number {
  return new Set(report.heads.filter((one) => one.group === head.group).map((one) => one.layer)).size;
}

function headsOf(report: Report, head: Head): number {
  return report.heads.filter((one) => one.group === head.group && one.layer === head.layer).length;
}

/** Whether a card lies over the picture, as on a phone: then it makes way for the text that is opened from it. */
export function coversPage(): boolean {
  const panel = document.querySelector(".card-panel");
  return panel !== null && getComputedStyle(panel).position === "fixed";
}
