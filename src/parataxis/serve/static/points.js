// Places in a text: the server counts code points, JavaScript counts UTF-16 units.

const WIDE = /[\ud800-\udbff]/;

/**
 * A function from places in code points to places in the JavaScript string.
 * @param {string} text @returns {(place: number) => number}
 */
export function placesIn(text) {
  if (!WIDE.test(text)) return (place) => place;
  const units = [0];
  for (const point of text) units.push(units[units.length - 1] + point.length);
  return (place) => units[Math.min(place, units.length - 1)];
}
