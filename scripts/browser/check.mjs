// Opens a page of results in Chromium, and fails on anything that a reader should not see.
// The page is a report of `plausibly reproduce` or the page of `plausibly simulate`.
// usage: node check.mjs PAGE.html [FOLDER FOR SCREENSHOTS]
import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [file, pictures] = process.argv.slice(2);
if (!file) {
  console.error("usage: node check.mjs PAGE.html [FOLDER FOR SCREENSHOTS]");
  process.exit(2);
}
const address = pathToFileURL(resolve(file)).href;
const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
// Without a sandbox, because root has none and the only page is our own.
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
let checks = 0;

/** Opens a page and records its errors from the beginning. */
async function open(options) {
  const context = await browser.newContext({ deviceScaleFactor: 1, ...options });
  const page = await context.newPage();
  const complaints = [];
  page.on("console", (message) => complaints.push(`console ${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
  page.on("request", (request) => {
    if (request.url() !== address && !request.url().startsWith("data:"))
      complaints.push(`request: ${request.url()}`);
  });
  await page.goto(address);
  return { page, complaints, close: () => context.close() };
}

async function check(name, body) {
  await body();
  checks += 1;
  console.log(`ok: ${name}`);
}

const wide = { width: 1280, height: 900 };
const phone = { width: 360, height: 800 };
// A sheet of A4 inside the margins of browsers, in CSS pixels.
const sheet = { width: 717, height: 1046 };

for (const [name, viewport] of Object.entries({
  wide,
  phone,
  small: { width: 320, height: 600 },
  huge: { width: 2560, height: 1300 },
})) {
  for (const colorScheme of ["light", "dark"]) {
    await check(
      `${name}, ${colorScheme}: quiet, nothing requested, nothing wider than the screen`,
      async () => {
        const { page, complaints, close } = await open({ viewport, colorScheme });
        const { scroll, client, ground } = await page.evaluate(() => ({
          scroll: document.documentElement.scrollWidth,
          client: document.documentElement.clientWidth,
          ground: getComputedStyle(document.body).backgroundColor,
        }));
        assert.deepEqual(complaints, []);
        assert.ok(scroll <= client, `the page is ${scroll} wide on a screen of ${client}`);
        assert.equal(
          ground === "rgb(255, 255, 255)",
          colorScheme === "light",
          `background ${ground}`,
        );
        if (pictures) {
          await mkdir(pictures, { recursive: true });
          await page.screenshot({ path: join(pictures, `${name}-${colorScheme}.png`) });
        }
        await close();
      },
    );
  }
}

// The expected content of a page, by the beginning of its title.
const about = {
  "The paper, re-measured": [
    "Does the paper hold up?",
    "How the paper was read",
    "How it was measured",
    "holds",
  ],
  "Between CODE and LinUCB": [
    "Is there something better between CODE and LinUCB?",
    "How it was measured",
    "holds",
  ],
  "Late rewards": [
    "Should decisions count before their rewards are known?",
    "settled rewards",
    "How it was measured",
    "holds",
  ],
};
const simulated = ["Curves", "Final figures", "Run it again", "plausibly simulate"];

await check("without scripts everything is there", async () => {
  const { page, close } = await open({ viewport: wide, javaScriptEnabled: false });
  const text = await page.locator("body").innerText();
  const title = await page.title();
  const known = Object.entries(about).find(([start]) => title.startsWith(start));
  for (const words of known ? known[1] : simulated) {
    assert.ok(text.includes(words), `"${words}" is not on the page`);
  }
  const figures = page.locator("svg[role=img]");
  assert.ok((await figures.count()) >= 2);
  for (const figure of await figures.all()) {
    const box = await figure.boundingBox();
    assert.ok(box && box.width > 300 && box.height > 150, "a figure has no size");
    assert.ok((await figure.getAttribute("aria-label")).length > 40, "a figure has no description");
  }
  await close();
});

await check("pointing at a figure reads it out", async () => {
  const { page, complaints, close } = await open({ viewport: wide });
  const figure = page
    .locator("figure")
    .filter({ has: page.locator("svg.curves") })
    .first();
  const svg = figure.locator("svg.curves");
  // Reports on the frontier or on late rewards alone have no curves.
  if ((await svg.count()) === 0) return close();
  await svg.scrollIntoViewIfNeeded();
  await svg.hover();
  assert.match(await figure.locator(".readout").innerText(), /^round [\d,]+: .* [\d.,]+/);
  await page.mouse.move(2, 2);
  assert.equal(await figure.locator(".readout").innerText(), "");
  assert.deepEqual(complaints, []);
  await close();
});

for (const [name, viewport] of Object.entries({ wide, phone }))
  await check(
    `${name}: labels of curves stay inside their figure and apart from each other`,
    async () => {
      const { page, close } = await open({ viewport });
      const troubles = await page.evaluate(() => {
        const found = [];
        for (const svg of document.querySelectorAll("svg[role=img]")) {
          const frame = svg.getBoundingClientRect();
          const boxes = [...svg.querySelectorAll(".label")].map((label) => [
            label.textContent,
            label.getBoundingClientRect(),
          ]);
          boxes.forEach(([name, box], i) => {
            if (box.right > frame.right + 1 || box.left < frame.left - 1)
              found.push(`${name} leaves its figure`);
            for (const [other, rival] of boxes.slice(i + 1)) {
              const across = Math.min(box.right, rival.right) - Math.max(box.left, rival.left);
              const down = Math.min(box.bottom, rival.bottom) - Math.max(box.top, rival.top);
              if (across > 1 && down > 5) found.push(`${name} and ${other} overlap`);
            }
          });
        }
        return found;
      });
      assert.deepEqual(troubles, []);
      await close();
    },
  );

await check("a link to a spec opens it", async () => {
  const { page, close } = await open({ viewport: wide });
  const link = page.locator("a[href^='#spec-']").first();
  // The page of a simulation shows its only spec as it is.
  if ((await link.count()) === 0) return close();
  const target = (await link.getAttribute("href")).slice(1);
  await link.click();
  await page.locator(`#${target} pre`).waitFor({ state: "visible" });
  await close();
});

await check("every link leads to something on the page, and no table is empty", async () => {
  const { page, close } = await open({ viewport: wide });
  const troubles = await page.evaluate(() => {
    const target = (link) =>
      document.getElementById(decodeURIComponent(link.getAttribute("href").slice(1)));
    const links = [...document.querySelectorAll("a")];
    const dead = links.filter(
      (link) => !link.getAttribute("href").startsWith("#") || !target(link),
    );
    const empty = [...document.querySelectorAll("table")].filter(
      (table) => !table.querySelector("tbody td"),
    );
    return [
      ...dead.map((link) => `dead link: ${link.outerHTML}`),
      ...empty.map((table) => `empty table: ${table.outerHTML.slice(0, 200)}`),
    ];
  });
  assert.deepEqual(troubles, []);
  await close();
});

await check("phone: the table of verdicts fits", async () => {
  const { page, close } = await open({ viewport: phone });
  const troubles = await page.evaluate(() =>
    [...document.querySelectorAll("header table")].flatMap((table) => {
      const around = table.parentElement;
      return around.scrollWidth > around.clientWidth
        ? [`${table.className}: ${around.scrollWidth} in ${around.clientWidth}`]
        : [];
    }),
  );
  assert.deepEqual(troubles, []);
  if (pictures) await page.screenshot({ path: join(pictures, "phone-whole.png"), fullPage: true });
  await close();
});

await check("print: no table, figure or spec is cut off", async () => {
  const { page, close } = await open({ viewport: sheet });
  await page.emulateMedia({ media: "print" });
  const troubles = await page.evaluate(() => {
    const edge = document.documentElement.clientWidth;
    const found = [];
    for (const part of document.querySelectorAll("table, td, th, svg, pre, p, li, figcaption")) {
      const box = part.getBoundingClientRect();
      if (box.right > edge + 1)
        found.push(
          `${part.tagName} ${part.className.baseVal ?? part.className} ends at ` +
            `${box.right} of ${edge}: ${part.textContent.slice(0, 60)}`,
        );
    }
    for (const part of document.querySelectorAll(".scroll, pre, td, th")) {
      if (part.scrollWidth > part.clientWidth + 1 && getComputedStyle(part).overflowX !== "visible")
        found.push(`${part.tagName} scrolls on paper`);
    }
    return found;
  });
  assert.deepEqual(troubles, []);
  if (pictures) await page.screenshot({ path: join(pictures, "print-whole.png"), fullPage: true });
  await close();
});

await check("it prints, specs included", async () => {
  const { page, close } = await open({ viewport: wide });
  const margin = { top: "1cm", bottom: "1cm", left: "1cm", right: "1cm" };
  const pdf = await page.pdf({
    format: "A4",
    margin,
    ...(pictures ? { path: join(pictures, "print.pdf") } : {}),
  });
  assert.equal(pdf.subarray(0, 5).toString(), "%PDF-");
  assert.ok(pdf.length > 20_000, `only ${pdf.length} bytes`);
  await close();
});

await browser.close();
console.log(`${checks} checks of the page in a browser`);
