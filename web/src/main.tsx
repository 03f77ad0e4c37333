// Reads what the page carries, and draws it.
import "./style.css";
import { render } from "preact";
import { chunksOfPage } from "./data/chunks";
import type { ViewPage } from "./data/page";
import { ViewApp } from "./shell/ViewApp";

const page = JSON.parse(document.getElementById("page")?.textContent ?? "{}") as ViewPage;
const app = document.getElementById("app");
if (app) {
  app.replaceChildren();
  render(<ViewApp page={page} chunks={chunksOfPage()} />, app);
}
