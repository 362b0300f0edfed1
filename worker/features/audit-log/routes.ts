import { z } from '@hono/zod-openapi';
import { raise } from '#core/errors.ts';
import { auditEntryIdOf, auditSeqOf } from '#core/ids.ts';
import { COUNTED_FILTERED_MAX } from '#core/limits.ts';
import { pageRequest, toPage } from '#platform/db/page.ts';
import { countedLessWith, headersOf, PageQuery, pageOf } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { AUDIT_ACTIONS, AUDIT_ACTORS, AUDIT_OUTCOMES } from '#rules/access/audit-actions.ts';
import { EntryBody, toEntryResource } from './entry.ts';
import { type EntryFilter, findEntry, listAuditEntries } from './store.ts';

const ACTIONS: readonly string[] = [...AUDIT_ACTIONS, ...new Set(AUDIT_ACTIONS.map((action) => action.replace(/\..*/, '.*')))];
const Instant = z.union([z.iso.datetime({ offset: true }), z.iso.date()]).optional();

const FilterQuery = {
  actor_kind: z.enum(AUDIT_ACTORS).optional().describe('Return only entries of this kind of actor.'),
  actor_id: z.string().max(64).optional().describe('Return only entries of this person or key.'),
  action: z
    .string()
    .refine((action) => ACTIONS.includes(action), 'Expected an action, or `<noun>.*`')
    .optional()
    .describe('Return only this action, or those of a noun: `key.*`.'),
  subject_id: z.string().max(253).optional().describe('Return only entries about this object.'),
  outcome: z.enum(AUDIT_OUTCOMES).optional().describe('Return only entries with this outcome.'),
  from: Instant.openapi({ type: 'string', format: 'date-time' }).describe('Return only entries from this time on.'),
  to: Instant.openapi({ type: 'string', format: 'date-time' }).describe('Return only entries before this time.'),
  q: z.string().trim().min(2).max(200).optional().describe('Search text.'),
};
type Filter = z.output<z.ZodObject<typeof FilterQuery>>;

const timeOf = (text: string | undefined): number | undefined => (text === undefined ? undefined : Date.parse(text));
const filterOf = ({
  actor_kind: actorKind,
  actor_id: actorId,
  subject_id: subjectId,
  from,
  to,
  action,
  outcome,
  q,
}: Filter): EntryFilter => ({
  ...{ actorKind, actorId, subjectId, action, outcome, q, from: timeOf(from), to: timeOf(to) },
});
const isNarrowed = (filter: EntryFilter): boolean => Object.values(filter).some((value) => value !== undefined);

const VerificationBody = z
  .object({
    valid: z.boolean().describe('True if no entry is missing or was changed.'),
    checked: z.int(),
    head: z
      .object({
        seq: z.int().describe('Number of the last chained entry.'),
        hash: z.string().describe('Hash of the last chained entry.'),
      })
      .describe('End of the chain.'),
    broken_at: z.int().optional().describe('Number of the first entry that is missing or was changed.'),
  })
  .openapi('AuditLogVerification');

export const auditLogRoutes = routes('Audit log', 'log')
  .read({
    path: 'GET /account/audit-log',
    id: 'listAuditLog',
    sdk: 'auditLog.list',
    summary: 'List the audit log',
    description: `Lists who did what to the account, newest first. ${countedLessWith('a filter')}`,
    query: { ...PageQuery, ...FilterQuery },
    returns: pageOf(EntryBody, 'AuditEntryPage'),
    answer: async ({ scope, query: { page: number, per_page, ...query } }) => {
      const filter = filterOf(query);
      const page = pageRequest({ page: number, per_page }, isNarrowed(filter) ? COUNTED_FILTERED_MAX : undefined);
      return toPage(page, await listAuditEntries(scope, filter, page), toEntryResource);
    },
  })
  .read({
    path: 'GET /account/audit-log.csv',
    id: 'exportAuditLog',
    sdk: 'auditLog.export',
    summary: 'Export the audit log',
    description: 'Exports the audit log as CSV, under the rules of the receipts’ export.',
    query: { ...FilterQuery },
    returns: {
      200: {
        description: 'One row per entry',
        content: { 'text/csv': { schema: z.string().openapi({ format: 'binary' }) } },
        headers: headersOf('X-Svc-Truncated'),
      },
    },
    respond: async ({ c, scope, query }) => {
      const { csv, isTruncated } = await (await import('./csv.ts')).exportEntries(scope, filterOf(query));
      if (isTruncated) c.header('X-Svc-Truncated', 'true');
      return c.body(csv, 200, {
        'Content-Type': 'text/csv; charset=utf-8',
        'Content-Disposition': 'attachment; filename="audit-log.csv"',
      }) as never;
    },
  })
  .read({
    path: 'GET /account/audit-log/verify',
    id: 'verifyAuditLog',
    sdk: 'auditLog.verify',
    summary: 'Verify the audit log',
    description: 'Recomputes the hash chain of the log, in both modes. Entries are chained within a minute.',
    returns: VerificationBody,
    answer: async ({ scope }) => {
      const { checked, head, brokenAt } = await (await import('./verify.ts')).verifyLog(scope);
      return { valid: brokenAt === null, checked, head, ...(brokenAt === null ? {} : { broken_at: brokenAt }) };
    },
  })
  .read({
    path: 'GET /account/audit-log/{entry_id}',
    id: 'getAuditLogEntry',
    sdk: 'auditLog.get',
    summary: 'Get an entry of the audit log',
    description: 'Returns an entry.',
    params: z.object({
      entry_id: z
        .string()
        .max(40)
        .refine((id) => /^aud_[0-9A-HJKMNP-TV-Z]{26}$/.test(id), 'Expected the id of an entry')
        .openapi({ param: { name: 'entry_id', in: 'path' } }),
    }),
    returns: EntryBody,
    codes: ['not_found'],
    answer: async ({ scope, params: { entry_id: entryId } }) => {
      const seq = auditSeqOf(entryId);
      const entry = seq === null ? undefined : await findEntry(scope, seq);
      if (!entry || auditEntryIdOf(entry.merchantId, entry.at, entry.seq) !== entryId) return raise('not_found');
      return toEntryResource(entry);
    },
  });
