// Builds the bundle into the package: `npm run build`; with --watch again at every change.
// With --outdir DIR it goes elsewhere: the tests compare it with the one that is committed.
import { build, context } from "esbuild";

const given = process.argv.indexOf("--outdir");
const options = {
  entryPoints: { headscope: "src/main.tsx" },
  bundle: true,
  minify: true,
  charset: "utf8",
  format: "iife",
  target: ["es2022"],
  legalComments: "none",
  outdir: given > 0 ? process.argv[given + 1] : "../src/headscope/views/assets",
  logLevel: "warning",
};

if (process.argv.includes("--watch")) {
  await (await context(options)).watch();
} else {
  await build(options);
}
