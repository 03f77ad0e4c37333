// A box that filters the rows of long tables by what is typed. Without JavaScript there is no box, and the table is whole.
function addFilters() {
  for (const table of document.querySelectorAll("article table")) {
    const rows = [...table.querySelectorAll("tbody tr")];
    if (rows.length < 40 || table.dataset.filtered) continue;
    table.dataset.filtered = "yes";
    const texts = rows.map((row) => row.textContent.toLowerCase());
    const box = document.createElement("input");
    const said = document.createElement("output");
    box.type = "search";
    box.placeholder = "filter, such as: llama, or weights only";
    box.setAttribute("aria-label", "Filter the rows of this table");
    const show = () => {
      const wanted = box.value.toLowerCase().split(/\s+/).filter(Boolean);
      let left = 0;
      rows.forEach((row, place) => {
        row.hidden = !wanted.every((word) => texts[place].includes(word));
        left += row.hidden ? 0 : 1;
      });
      said.textContent = `${left} of ${rows.length} rows`;
    };
    box.addEventListener("input", show);
    const line = document.createElement("p");
    line.className = "filter";
    line.append(box, said);
    (table.closest(".md-typeset__scrollwrap") ?? table).before(line);
    show();
  }
}
addFilters();
