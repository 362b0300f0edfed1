import { z } from '@hono/zod-openapi';
import { sha256Hex } from '#core/crypto.ts';
import { canonicalJson, utf8 } from '#core/encoding.ts';
import { auditEntryIdOf } from '#core/ids.ts';
import { iso } from '#core/time.ts';
import type { AuditEntry } from '#platform/db/tables/office/audit-log.ts';
import { given, Livemode, Timestamp } from '#platform/http/openapi.ts';
import { AUDIT_ACTORS, AUDIT_OUTCOMES, AUDIT_SUBJECTS } from '#rules/access/audit-actions.ts';

const Fields = z.record(z.string(), z.unknown());
const Hash = z.string().describe('SHA-256 in hex.');

export const EntryBody = z
  .object({
    entry_id: z.string(),
    seq: z.int().describe('Number of the entry in the log, from 1.'),
    at: Timestamp,
    actor: z.object({
      kind: z.enum(AUDIT_ACTORS),
      id: z.string().optional(),
      name: z.string().optional().describe('Name of the person, key or operator.'),
      role: z.string().optional(),
    }),
    action: z.string().describe('Action: one of `x-audit-actions`.'),
    subject: z.object({
      type: z.enum(AUDIT_SUBJECTS),
      id: z.string(),
    }),
    before: Fields.optional().describe('Changed fields before the action.'),
    after: Fields.optional().describe('Changed fields after the action.'),
    outcome: z.enum(AUDIT_OUTCOMES).describe('`done`, or `refused`.'),
    reason: z.string().optional().describe('Reason of the action, or of its refusal.'),
    request_id: z.string().describe('Identifier of the request in the operator’s log.'),
    ip: z.string().optional(),
    session_id: z.string().optional(),
    livemode: Livemode,
    erased: z.literal(true).optional().describe('True if names and addresses were erased.'),
    prev_hash: Hash.optional(),
    hash: Hash.optional().describe('SHA-256 of the RFC 8785 bytes of this entry without `hash`.'),
  })
  .openapi('AuditEntry');
type Entry = z.infer<typeof EntryBody>;

export const toEntryResource = ({ details, ...entry }: AuditEntry): Entry => ({
  entry_id: auditEntryIdOf(entry.merchantId, entry.at, entry.seq),
  seq: entry.seq,
  at: iso(entry.at),
  actor: { kind: entry.actorKind, ...given('id', entry.actorId), ...given('name', entry.actorName), ...given('role', entry.role) },
  action: entry.action,
  subject: { type: entry.subjectType, id: entry.subjectId },
  outcome: entry.outcome,
  ...details,
  request_id: entry.requestId,
  livemode: entry.livemode,
  ...(entry.isErased ? { erased: true } : {}),
  ...given('prev_hash', entry.prevHash),
  ...given('hash', entry.hash),
});

/** `prev_hash` of the first entry. */
export const GENESIS_HASH = '0'.repeat(64);

/** Hash of an entry after the one with `prevHash`. */
export function entryHash(entry: AuditEntry, prevHash: string): string {
  const { hash: _, ...hashed } = toEntryResource({ ...entry, prevHash });
  return sha256Hex(utf8(canonicalJson(hashed)));
}
