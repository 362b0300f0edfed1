import { utf8 } from '#core/encoding.ts';
import { csvLine } from '#core/text/csv.ts';
import { newCtx, type Scope } from '#platform/context.ts';
import { homeOf } from '#platform/db/directory.ts';
import type { AuditEntry } from '#platform/db/tables/office/audit-log.ts';
import { toEntryResource } from './entry.ts';
import { type EntryFilter, hasMoreEntries, listBelow } from './store.ts';

const ROWS_MAX = 100_000;
const PAGE = 1000;

type Entry = ReturnType<typeof toEntryResource>;
const jsonOf = (fields: object | undefined): string => (fields ? JSON.stringify(fields) : '');

const COLUMNS: [name: string, cell: (entry: Entry) => string | undefined][] = [
  ['at', ({ at }) => at],
  ['actor_kind', ({ actor }) => actor.kind],
  ['actor_id', ({ actor }) => actor.id],
  ['actor_name', ({ actor }) => actor.name],
  ['role', ({ actor }) => actor.role],
  ['action', ({ action }) => action],
  ['subject_type', ({ subject }) => subject.type],
  ['subject_id', ({ subject }) => subject.id],
  ['outcome', ({ outcome }) => outcome],
  ['ip', ({ ip }) => ip],
  ['request_id', ({ request_id }) => request_id],
  ['before', ({ before }) => jsonOf(before)],
  ['after', ({ after }) => jsonOf(after)],
  ['seq', ({ seq }) => String(seq)],
  ['hash', ({ hash }) => hash],
];

const lineOf = (entry: AuditEntry): string => {
  const shown = toEntryResource(entry);
  return csvLine(COLUMNS.map(([, cell]) => cell(shown) ?? ''));
};

/** Exports entries as CSV, newest first, page by page as the reader consumes it. `isTruncated`: more match than one file holds. */
export async function exportEntries(ctx: Scope, filter: EntryFilter): Promise<{ csv: ReadableStream<Uint8Array>; isTruncated: boolean }> {
  const { env, requestId, cause, baseUrl, now, wallNow, defer, note, merchantId, livemode } = ctx;
  const patient = newCtx(env, { requestId, cause, kind: 'export', origin: baseUrl, now, wallNow, defer, note });
  const scope: Scope = { ...homeOf(patient, merchantId), merchantId, livemode };
  let [below, left] = [Number.MAX_SAFE_INTEGER, ROWS_MAX];
  const isTruncated = await hasMoreEntries(scope, filter, ROWS_MAX);
  const csv = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(utf8(csvLine(COLUMNS.map(([name]) => name)))),
    pull: async (controller) => {
      const page = await listBelow(scope, filter, below, Math.min(PAGE, left));
      if (page.length === 0) return controller.close();
      controller.enqueue(utf8(page.map(lineOf).join('')));
      [below, left] = [page.at(-1)!.seq, left - page.length];
    },
  });
  return { csv, isTruncated };
}
