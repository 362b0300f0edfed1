import type { Scope } from '#platform/context.ts';
import type { AuditAction, AuditSubject } from '#rules/access/audit-actions.ts';
import type { StoreAnswer } from '../once.ts';
import { type AuditFields, recordAction } from './record-action.ts';

/** Entry of a route that follows from its result. */
export interface RecordedAction<T = unknown, C = unknown> {
  action: AuditAction;
  subject: AuditSubject;
  /**
   * Id of the subject and the fields of the result that the log may show. The verb's row before the change has the same ones. Secrets, codes
   * and hashes are never among them.
   */
  fields(result: T, call: C): AuditFields & { id: string };
  reason?(call: C): string | undefined;
}

/** Fields that an entry may show. */
export const pick = <R extends object, N extends keyof R>(resource: R, ...names: N[]): Pick<R, N> =>
  Object.fromEntries(names.map((name) => [name, resource[name]])) as Pick<R, N>;

/** Adds the entry to the writes that store an answer, unless the verb changed nothing. */
export const withEntry =
  (
    scope: Scope,
    { action, subject, fields, reason }: RecordedAction,
    call: unknown,
    storeAnswer: StoreAnswer<unknown>,
  ): StoreAnswer<unknown> =>
  async (result, stored = {}) => {
    const writes = await storeAnswer(result, stored);
    if (stored.isUnchanged) return writes;
    const shown = (value: unknown) => {
      const { id, livemode = scope.livemode, ...rest } = fields(value, call);
      return { id, livemode: livemode as boolean, rest };
    };
    const after = shown(result);
    const before = stored.before === undefined ? undefined : shown(stored.before).rest;
    const entry = { action, subject: { type: subject, id: after.id }, before, after: after.rest, reason: reason?.(call) };
    return [...writes, recordAction(scope, { merchantId: scope.merchantId, livemode: after.livemode }, entry)];
  };
