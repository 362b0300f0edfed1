import { ApiError } from '#core/errors.ts';
import type { Listed, PageRequest } from '#platform/db/page.ts';
import { MERGED_MAX, type Seller } from './sellers.ts';

interface Reading<Row, Shown> {
  read(seller: Seller, page: PageRequest): Promise<Listed<Row>>;
  timeOf(row: Row): number;
  present(seller: Seller, row: Row): Shown;
}

/**
 * Reads one page of the rows of several sellers, newest first. One seller is paged by its database. Of several, each is read up to the end
 * of the page: throws 422 for a page beyond `MERGED_MAX` rows.
 */
export async function mergePages<Row, Shown>(
  sellers: readonly Seller[],
  page: PageRequest,
  { read, timeOf, present }: Reading<Row, Shown>,
): Promise<Listed<Shown>> {
  const [only] = sellers;
  if (only && sellers.length === 1) {
    const { items, total } = await read(only, page);
    return { items: items.map((row) => present(only, row)), total };
  }
  const end = page.offset + page.perPage;
  if (page.offset > 0 && end > MERGED_MAX) {
    const msg = `Expected a page up to row ${MERGED_MAX}, or one seller by account_id`;
    throw new ApiError('validation_error', { problems: [{ loc: ['query', 'page'], msg, type: 'too_far' }] });
  }
  const parts = await Promise.all(
    sellers.map(async (seller) => ({ seller, ...(await read(seller, { ...page, page: 1, offset: 0, perPage: end })) })),
  );
  const rows = parts.flatMap(({ seller, items }) => items.map((row) => ({ seller, row })));
  const newest = rows.sort((one, other) => timeOf(other.row) - timeOf(one.row)).slice(page.offset, end);
  return {
    items: newest.map(({ seller, row }) => present(seller, row)),
    total: parts.reduce((sum, { total }) => sum + total, 0),
  };
}
