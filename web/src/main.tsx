// Reads what the page carries, and draws it: the views of a text, the report on a run, or the live page.
import "./style.css";
import { type ComponentChild, render } from "preact";
import { chunksOfPage } from "./data/chunks";
import { LiveApp } from "./live/LiveApp";
import { ReportApp } from "./report/ReportApp";
import type { LivePage, ReportPage, ViewPage } from "./schema";
import { askToGrow } from "./shell/frame";
import { watchPrinting } from "./shell/printing";
import { ViewApp } from "./shell/ViewApp";
import "./print.css"; // last: it has the last word on paper

type Page = ViewPage | ReportPage | LivePage;

function appOf(page: Page): ComponentChild {
  switch (page.kind) {
    case "live":
      return <LiveApp page={page} />;
    case "report":
      return <ReportApp page={page} chunks={chunksOfPage()} />;
    case "view":
      return <ViewApp page={page} chunks={chunksOfPage()} />;
  }
}

const page = JSON.parse(document.getElementById("page")?.textContent ?? "{}") as Page;
const app = document.getElementById("app");
if (app) {
  app.replaceChildren();
  watchPrinting();
  render(appOf(page), app);
  askToGrow(app);
}
