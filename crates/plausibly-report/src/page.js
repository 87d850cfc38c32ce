// Shows the figures under the pointer. The page has those of the last round without this script.
"use strict";
for (const svg of document.querySelectorAll("svg.curves")) {
  const data = JSON.parse(svg.nextElementSibling.textContent);
  const readout = svg.closest("figure").querySelector(".readout");
  const cursor = svg.querySelector(".cursor");
  const show = (event) => {
    const box = svg.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width;
    if (x < svg.dataset.left - 8 || x > Number(svg.dataset.right) + 8) return hide();
    let best = 0;
    data.x.forEach((at, i) => { if (Math.abs(at - x) < Math.abs(data.x[best] - x)) best = i; });
    cursor.setAttribute("x1", data.x[best]);
    cursor.setAttribute("x2", data.x[best]);
    readout.replaceChildren(`round ${data.rounds[best].toLocaleString("en")}: `);
    for (const series of data.series) {
      const name = document.createElement("b");
      name.className = `s${series.style}`;
      name.textContent = series.label;
      readout.append(name, ` ${series.means[best]}  `);
    }
  };
  const hide = () => {
    cursor.setAttribute("x1", -9);
    cursor.setAttribute("x2", -9);
    readout.textContent = "";
  };
  svg.addEventListener("pointermove", show);
  svg.addEventListener("pointerleave", hide);
}
// A link to a spec opens it.
const open = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const details = target && target.querySelector("details");
  if (details) details.open = true;
};
addEventListener("hashchange", open);
open();
