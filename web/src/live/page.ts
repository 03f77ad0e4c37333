// What the live page carries: only its name. Everything else is asked of the server that it came from.

export interface LivePage {
  kind: "live";
  title: string;
  version: string;
}
