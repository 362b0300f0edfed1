import { PER_PAGE } from '#core/limits.ts';
import { type Listed, type PageRequest, pageRequest } from '#platform/db/page.ts';

/** Rows of one list that an export has. */
export const EXPORTED_MAX = 1000;

export interface ExportedRows<Row> {
  rows: Row[];
  isCut: boolean;
}

/** Reads the first `max` rows of a list, page by page. A row that moved to the next page meanwhile is taken once. */
export async function readAll<Row>(
  read: (page: PageRequest) => Promise<Listed<Row>>,
  idOf: (row: Row) => string,
  max = EXPORTED_MAX,
): Promise<ExportedRows<Row>> {
  const found = new Map<string, Row>();
  for (let page = 1; ; page++) {
    const { items, total } = await read(pageRequest({ page, per_page: PER_PAGE.max }));
    for (const row of items) found.set(idOf(row), row);
    const end = page * PER_PAGE.max;
    if (total <= end || end >= max) return { rows: [...found.values()].slice(0, max), isCut: total > end || found.size > max };
  }
}

/** Reads a list of each source in turn, up to `EXPORTED_MAX` rows of all. */
export async function readInTurn<Source, Row>(
  sources: readonly Source[],
  read: (source: Source, max: number) => Promise<ExportedRows<Row>>,
): Promise<ExportedRows<Row>> {
  const rows: Row[] = [];
  let isCut = false;
  for (const [i, source] of sources.entries()) {
    const found = await read(source, EXPORTED_MAX - rows.length);
    rows.push(...found.rows);
    isCut ||= found.isCut;
    if (rows.length >= EXPORTED_MAX) return { rows, isCut: isCut || i < sources.length - 1 };
  }
  return { rows, isCut };
}

/** Names of the lists that an export does not have in full. */
export const cutLists = (lists: Readonly<Record<string, { isCut: boolean }>>): string[] =>
  Object.entries(lists).flatMap(([name, { isCut }]) => (isCut ? [name] : []));
