import type { AuditDetails, AuditEntry } from '../tables/office/audit-log.ts';

/** Text that replaces personal data. */
export const ERASED = 'erased';

/** Replaces every text. Numbers and flags remain, because they hold no personal data. */
function eraseTexts(value: unknown): unknown {
  if (typeof value === 'string') return ERASED;
  if (Array.isArray(value)) return value.map(eraseTexts);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, eraseTexts(field)]));
}

/** Details without personal data. */
export function eraseDetails({ ip: _, session_id, ...details }: AuditDetails): AuditDetails {
  return { ...(eraseTexts(details) as AuditDetails), ...(session_id && { session_id }) };
}

const withoutEmail = (fields: Record<string, unknown> | undefined) => {
  const { email: _, ...others } = fields ?? {};
  return others;
};

/** Entry without the address of an invitation, which nothing could find in the archive: the invitation is deleted at the same age. */
export function withoutInvited(entry: AuditEntry): AuditEntry {
  const { before, after, ...details } = entry.details;
  if (entry.subjectType !== 'invitation' || (before?.email === undefined && after?.email === undefined)) return entry;
  const fields = { ...(before && { before: withoutEmail(before) }), ...(after && { after: withoutEmail(after) }) };
  return { ...entry, details: { ...details, ...fields }, isErased: true };
}

/** Archived entry without the personal data of one person, or without any if `personId` is null. */
export function eraseEntry(entry: AuditEntry, personId: string | null): AuditEntry {
  const { actorKind, actorId, actorName, details } = entry;
  if (personId === null) return { ...entry, actorName: actorName === null ? null : ERASED, details: eraseDetails(details), isErased: true };
  if (actorKind !== 'person' || actorId !== personId) return entry;
  const { ip: _, ...others } = details;
  return { ...entry, actorName: null, details: others, isErased: true };
}
