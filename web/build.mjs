// Builds the bundle into the package: `npm run build`; with --watch again at every change.
// With --outdir DIR it goes elsewhere: the tests compare it with the one that is committed.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
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
  writeFileSync(join(options.outdir, "LICENSES.txt"), licences());
}

// The licences of what is in the bundle, which go where it goes.
function licences() {
  const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8"));
  const inside = Object.entries(packages).filter(([path, entry]) => path && !entry.dev && !entry.optional);
  return inside.map(([path, entry]) => `${path.slice("node_modules/".length)} ${entry.version}\n\n${licence(path)}\n`).join("\n");
}

function licence(path) {
  for (const name of ["LICENSE", "LICENSE.md", "LICENSE.txt"]) {
    try {
      return readFileSync(join(path, name), "utf8").trim();
    } catch {
      // The next name.
    }
  }
  throw new Error(`${path} comes without its licence`);
}
