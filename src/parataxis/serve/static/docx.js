// A plain Word document of paragraphs. The server puts the tracked changes in: this is only what
// they are put into when the text did not come from a Word file.

const WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
const PACKAGE = "http://schemas.openxmlformats.org/package/2006";
const OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";

/** @param {string[]} paragraphs @returns {Blob} */
export function makeDocx(paragraphs) {
  return zip([
    ["[Content_Types].xml", types()],
    ["_rels/.rels", relations()],
    ["word/document.xml", body(paragraphs)],
  ]);
}

function types() {
  const file = document.implementation.createDocument(`${PACKAGE}/content-types`, "Types");
  const add = (name, attributes) => element(file, file.documentElement, `${PACKAGE}/content-types`, name, attributes);
  add("Default", { Extension: "rels", ContentType: "application/vnd.openxmlformats-package.relationships+xml" });
  add("Default", { Extension: "xml", ContentType: "application/xml" });
  add("Override", { PartName: "/word/document.xml", ContentType: `${DOCX}.main+xml` });
  return file;
}

function relations() {
  const file = document.implementation.createDocument(`${PACKAGE}/relationships`, "Relationships");
  element(file, file.documentElement, `${PACKAGE}/relationships`, "Relationship", { Id: "rId1", Type: `${OFFICE}/officeDocument`, Target: "word/document.xml" });
  return file;
}

function body(paragraphs) {
  const file = document.implementation.createDocument(WORD, "w:document");
  const whole = element(file, file.documentElement, WORD, "w:body");
  for (const text of paragraphs) {
    const paragraph = element(file, whole, WORD, "w:p");
    const space = element(file, element(file, paragraph, WORD, "w:pPr"), WORD, "w:spacing");
    space.setAttributeNS(WORD, "w:after", "160"); // 8 points
    const run = element(file, paragraph, WORD, "w:r");
    const words = element(file, run, WORD, "w:t");
    words.setAttributeNS("http://www.w3.org/XML/1998/namespace", "xml:space", "preserve");
    words.textContent = text.replace(/[^\t\n\r -\ud7ff\ue000-\ufffd\ud800-\udfff]/g, ""); // what XML cannot hold
  }
  return file;
}

function element(file, parent, space, name, attributes = {}) {
  const made = parent.appendChild(file.createElementNS(space, name));
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

// --- A zip file whose parts are stored as they are (APPNOTE 6.3, 4.3)

/** @param {[string, XMLDocument][]} parts */
function zip(parts) {
  const [encoder, serializer] = [new TextEncoder(), new XMLSerializer()];
  const [files, directory] = [[], []];
  let offset = 0;
  for (const [name, part] of parts) {
    const title = encoder.encode(name);
    const data = encoder.encode(`<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n${serializer.serializeToString(part)}`);
    /** @type {[number, number][]} */
    const about = [[20, 2], [0x0800, 2], [0, 2], [0, 2], [0x21, 2], [sum(data), 4], [data.length, 4], [data.length, 4], [title.length, 2], [0, 2]];
    files.push(bytes([[0x04034b50, 4], ...about]), title, data);
    directory.push(bytes([[0x02014b50, 4], [20, 2], ...about, [0, 2], [0, 2], [0, 2], [0, 4], [offset, 4]]), title);
    offset += 30 + title.length + data.length;
  }
  const size = directory.reduce((total, each) => total + each.length, 0);
  const end = bytes([[0x06054b50, 4], [0, 2], [0, 2], [parts.length, 2], [parts.length, 2], [size, 4], [offset, 4], [0, 2]]);
  return new Blob([...files, ...directory, end], { type: DOCX });
}

/** Numbers, each in so many bytes, the lowest first. @param {[number, number][]} numbers */
function bytes(numbers) {
  return Uint8Array.from(numbers.flatMap(([value, width]) => Array.from({ length: width }, (_, place) => (value >>> (8 * place)) & 255)));
}

const TABLE = Array.from({ length: 256 }, (_, value) => {
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value >>> 0;
});

/** The CRC-32 of bytes. @param {Uint8Array} data */
function sum(data) {
  let value = ~0;
  for (const byte of data) value = TABLE[(value ^ byte) & 255] ^ (value >>> 8);
  return ~value >>> 0;
}
