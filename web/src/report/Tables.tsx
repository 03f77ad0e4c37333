// Every table of the run: sorted by a click, filtered, saved as CSV.
import { useEffect, useMemo, useState } from "preact/hooks";
import { number } from "../drawing/canvas";
import type { Cell, Table } from "../schema";
import { Check } from "../shell/choices";
import { csvOf } from "./csv";
import { columnsShown, decimalsOf, hasBounds, headColumns, labelOf, type Placed, rowsShown } from "./rows";
import { useReport } from "./shown";
import { save, useUnpacked } from "./unpack";

const AT_FIRST = 200; // rows that are drawn before more are asked for

export function Tables() {
  const { report, state, change } = useReport();
  const table = report.tables.find((one) => one.name === state.table) ?? report.tables[0];
  return (
    <div class="tables">
      <nav class="table-list" aria-label="Tables">
        {report.tables.map((one) => (
          <button
            key={one.name}
            type="button"
            aria-current={one === table ? "true" : undefined}
            onClick={() => change({ table: one.name, sort: "", find: "" })}
          >
            <span>{one.title}</span>
            <small>{one.name}</small>
          </button>
        ))}
      </nav>
      <OneTable key={table.name} table={table} />
    </div>
  );
}

function OneTable({ table }: { table: Table }) {
  const { report, state, change } = useReport();
  const rows = useUnpacked<Cell[][]>(table.rows, table.chunk);
  const [all, setAll] = useState(false);
  const heads = useMemo(() => headColumns(table), [table]);
  const columns = columnsShown(table, state.bounds);
  const places = useMemo(() => decimalsOf(table, rows ?? []), [table, rows]);
  const label = (row: Cell[]) => (heads && labelOf(report, heads, row)) || "";
  const found = useMemo(
    () => (rows ? rowsShown(table, rows, state.find, state.sort, label) : []),
    [table, rows, state.find, state.sort],
  );
  useEffect(() => setAll(false), [table]);
  if (!rows) return <p class="faint">Unpacking …</p>;
  const shown = all ? found : found.slice(0, AT_FIRST);
  return (
    <section class="one-table" data-table={table.name} data-rows={found.length}>
      <header>
        <h2>{table.title}</h2>
        <form class="toolbar" aria-label="Rows that are shown" onSubmit={(event) => event.preventDefault()}>
          <label class="choice">
            <span>find</span>
            <input
              type="search"
              name="find"
              value={state.find}
              placeholder={heads ? "a head, a word" : "a word"}
              onInput={(event) => change({ find: event.currentTarget.value })}
            />
          </label>
          {hasBounds(table) && (
            <Check name="bounds" label="95% intervals" checked={state.bounds} set={(bounds) => change({ bounds })} />
          )}
          <span class="faint" role="status">
            {found.length === rows.length ? `${rows.length.toLocaleString("en")} rows` : `${found.length} of ${rows.length} rows`}
          </span>
          <span class="spacer" />
          <button
            type="button"
            name="csv"
            class="quiet"
            onClick={() => save(`${table.name}.csv`, "text/csv", csvOf(table, rows))}
          >
            save as CSV
          </button>
        </form>
        {table.about && <p class="about">{table.about}</p>}
        {table.compared && <p class="about">A is the first run, B the second; the difference is B − A.</p>}
        {table.total > rows.length && (
          <p class="about">
            These are the first {rows.length.toLocaleString("en")} of {table.total.toLocaleString("en")} rows. All of them:{" "}
            <code>headscope table RUN {table.name} --csv</code>
          </p>
        )}
      </header>
      <div class="table-scroll" role="region" aria-label={`Rows of ${table.title}`} tabIndex={0}>
        <table>
          <thead>
            <tr>
              {heads && <HeadSort />}
              {columns.map((placed) => (
                <Header key={placed.at} placed={placed} />
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row, place) => (
              <Row key={place} row={row} columns={columns} decimals={places} label={heads ? label(row) : null} />
            ))}
          </tbody>
        </table>
      </div>
      {found.length === 0 && <p class="about">No row has “{state.find}”.</p>}
      {shown.length < found.length && (
        <button type="button" class="quiet more" onClick={() => setAll(true)}>
          show {(found.length - shown.length).toLocaleString("en")} more rows
        </button>
      )}
    </section>
  );
}

function HeadSort() {
  const { state, change } = useReport();
  const up = state.sort === "";
  return (
    <th scope="col" aria-sort={up ? "ascending" : state.sort === "-" ? "descending" : "none"}>
      <button type="button" onClick={() => change({ sort: up ? "-" : "" })}>
        head{up ? " ▲" : state.sort === "-" ? " ▼" : ""}
      </button>
    </th>
  );
}

function Header({ placed: { column } }: { placed: Placed }) {
  const { state, change } = useReport();
  const { name, title, about, numeric } = column;
  const [up, down] = [state.sort === name, state.sort === `-${name}`];
  const first = numeric ? `-${name}` : name; // numbers: the largest first
  const next = up ? `-${name}` : down ? name : first;
  return (
    <th scope="col" class={numeric ? "numeric" : undefined} aria-sort={up ? "ascending" : down ? "descending" : "none"}>
      <button type="button" title={about || name} data-column={name} onClick={() => change({ sort: next })}>
        {title}
        {up ? " ▲" : down ? " ▼" : ""}
      </button>
    </th>
  );
}

interface RowProps {
  row: Cell[];
  columns: Placed[];
  decimals: (number | null)[];
  label: string | null; // null: the table is not of heads
}

function Row({ row, columns, decimals, label }: RowProps) {
  const { change } = useReport();
  return (
    <tr>
      {label !== null && (
        <th scope="row">
          {label ? (
            <button type="button" class="head-link" onClick={() => change({ head: label })}>
              {label}
            </button>
          ) : (
            <span class="faint">all</span>
          )}
        </th>
      )}
      {columns.map(({ column, at }) => (
        <td key={at} class={column.numeric ? "numeric" : undefined} title={typeof row[at] === "number" ? String(row[at]) : undefined}>
          {written(row[at], decimals[at])}
        </td>
      ))}
    </tr>
  );
}

function written(cell: Cell, decimals: number | null) {
  if (cell === null) return "";
  if (typeof cell === "number") return decimals === null ? number(cell) : cell.toLocaleString("en", fixed(decimals));
  return <bdi>{String(cell)}</bdi>;
}

function fixed(decimals: number): Intl.NumberFormatOptions {
  return { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
}
