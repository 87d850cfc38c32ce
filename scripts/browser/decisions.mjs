// Opens pages and slides of decisions in Chromium, and fails on anything that a reader should not
// see.
// usage: node decisions.mjs FOLDER [FOLDER FOR SCREENSHOTS]
// The folder is written by PLAUSIBLY_GALLERY=FOLDER cargo test -p plausibly-report gallery
import assert from "node:assert/strict";
import { mkdir, readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [folder, pictures] = process.argv.slice(2);
if (!folder) {
  console.error("usage: node decisions.mjs FOLDER [FOLDER FOR SCREENSHOTS]");
  process.exit(2);
}
const files = (await readdir(folder)).filter((name) => /\.(html|svg)$/.test(name));
assert.ok(files.length > 0, `nothing to look at in ${folder}`);
if (pictures) await mkdir(pictures, { recursive: true });
// Without a sandbox, because root has none and the only pages are our own.
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});

/**
 * The errors of a drawing or a page: too wide, a figure without size or words, labels that leave
 * the drawing or overlap.
 */
function troubles() {
  const found = [];
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth && root.tagName === "HTML")
    found.push(`${root.scrollWidth} wide on a screen of ${root.clientWidth}`);
  const drawings =
    root.tagName === "svg" ? [root] : [...document.querySelectorAll("svg[role=img]")];
  const seen = drawings.filter((svg) => svg.getBoundingClientRect().width > 0);
  if (seen.length === 0) found.push("no drawing is shown");
  for (const svg of seen) {
    const frame = svg.getBoundingClientRect();
    if (root.tagName === "HTML" && (svg.getAttribute("aria-label") ?? "").length < 40)
      found.push("a drawing has no description");
    const boxes = [...svg.querySelectorAll("text")].map((text) => [
      text.textContent,
      text.getBoundingClientRect(),
    ]);
    boxes.forEach(([name, box], i) => {
      if (box.right > frame.right + 2 || box.left < frame.left - 2 || box.bottom > frame.bottom + 2)
        found.push(`${name} leaves its drawing`);
      for (const [other, rival] of boxes.slice(i + 1)) {
        const across = Math.min(box.right, rival.right) - Math.max(box.left, rival.left);
        const down = Math.min(box.bottom, rival.bottom) - Math.max(box.top, rival.top);
        if (across > 1 && down > 5) found.push(`${name} and ${other} overlap`);
      }
    });
  }
  return found;
}

const screens = { small: 320, phone: 390, wide: 1280, huge: 2560 };
let checks = 0;
for (const file of files) {
  const address = pathToFileURL(resolve(folder, file)).href;
  const views = file.endsWith(".svg")
    ? [["slide", 1600, "light"]]
    : Object.entries(screens).flatMap(([name, width]) =>
        ["light", "dark"].map((scheme) => [name, width, scheme]),
      );
  for (const [name, width, colorScheme] of views) {
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
    const page = await context.newPage();
    const complaints = [];
    page.on("console", (message) =>
      complaints.push(`console ${message.type()}: ${message.text()}`),
    );
    page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
    page.on("dialog", (dialog) =>
      dialog.dismiss().then(() => complaints.push("a name was run as a script")),
    );
    page.on("request", (request) => {
      if (request.url() !== address && !request.url().startsWith("data:"))
        complaints.push(`request: ${request.url()}`);
    });
    await page.goto(address);
    complaints.push(...(await page.evaluate(troubles)));
    assert.deepEqual(complaints, [], `${file} on ${name}, ${colorScheme}`);
    if (pictures)
      await page.screenshot({
        path: join(pictures, `${file.replace(/\.\w+$/, "")}-${name}-${colorScheme}.png`),
        fullPage: !file.endsWith(".svg"),
      });
    await context.close();
    checks += 1;
  }
}
await browser.close();
console.log(`${checks} looks at ${files.length} pages and slides of decisions in a browser`);
