/**
 * Start of a formula in a spreadsheet (OWASP, CSV injection), including full-width signs. Spreadsheets that separate cells at semicolons or
 * tabs ignore the quotes, so a formula may also begin after those and after a line break.
 */
const FORMULA = /^(?=[\t\r\n])|(?<=^|[;\t\r\n])(?=[=+\-@＝＋－＠])/g;
const QUOTED = /[",;\t\r\n]/;

/** Formats a cell by RFC 4180. An apostrophe before a formula makes it text. */
function cellOf(value: string): string {
  const text = value.replace(FORMULA, "'");
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Line of a CSV file. */
export const csvLine = (cells: string[]): string => `${cells.map(cellOf).join(',')}\r\n`;
