// What the live page carries: hardly more than its name. Everything else is asked of the server that it came from.

export interface LivePage {
  kind: "live";
  title: string;
  version: string;
  run: boolean; // whether the server has a run to show
}
