// Writes the bundle of the page into a folder: node build.mjs FOLDER. With --check it only compares.
import { build } from "esbuild";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, extname, join } from "node:path";

const [first, second] = process.argv.slice(2);
const check = first === "--check";
const folder = check ? second : first;

const made = await build({
  entryPoints: ["src/page.ts", "src/query.ts", "src/page.css"],
  outdir: folder,
  bundle: true,
  minify: true,
  format: "esm",
  // What a view does not need at first is a file of its own, whose name is another one when it is another file.
  splitting: true,
  chunkNames: "[name]-[hash]",
  target: ["es2022"],
  legalComments: "eof",
  write: false,
  logLevel: "warning",
});

let differs = false;
for (const file of made.outputFiles) {
  const name = basename(file.path);
  if (check) {
    const there = await readFile(join(folder, name)).catch(() => null);
    if (there === null || !there.equals(Buffer.from(file.contents))) {
      console.error(`${name} is not what its sources give: npm run build`);
      differs = true;
    }
  } else {
    await writeFile(join(folder, name), file.contents);
    console.log(`${name}  ${(file.contents.length / 1000).toFixed(1)} kB`);
  }
}
const names = new Set(made.outputFiles.map((file) => basename(file.path)));
for (const name of await readdir(folder)) {
  if (names.has(name) || ![".js", ".css"].includes(extname(name))) continue;
  if (check) {
    console.error(`${name} has no source: npm run build`);
    differs = true;
  } else await rm(join(folder, name));
}
process.exit(differs ? 1 : 0);
