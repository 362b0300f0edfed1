import { localPathOf } from '#core/local-path.ts';
import { hasRole, type Need, type Role, rolesWith } from '#rules/access/roles.ts';
import type { Answer, Refusal } from './operations.ts';
import type { Acted, Form, Screen } from './screen.tsx';
import { dropToken } from './session.ts';

/** Key of a form. It makes a second press of its button the same act. */
export const idempotent = ({ idempotency_key: idempotencyKey }: Form) => ({ idempotencyKey });

/** Text of a field without spaces around it. An empty one is absent. */
export const textOf = (text: string | undefined): string | undefined => text?.trim() || undefined;
/** Integer of a field. Returns other text unchanged, for the API to refuse. */
export const numberOf = (text: string | undefined): number | string | undefined => {
  const typed = textOf(text);
  return typed === undefined || !/^\d{1,9}$/.test(typed) ? typed : Number(typed);
};

/** Six digits are a code of the authenticator app, anything else is a recovery code. */
export function codeProofOf(code: string): { totp: string } | { recovery_code: string } {
  const typed = code.replace(/\s/g, '');
  return /^\d{6}$/.test(typed) ? { totp: typed } : { recovery_code: typed.toLowerCase() };
}

/** Completes an act that shows nothing of its answer. */
export const acted = (answer: Answer<unknown>): Acted => (answer.ok ? { ok: true } : answer);

/** Local path of a form's `next`, so that no form leads to another site. */
export const nextOf = ({ next }: Form): string => localPathOf(next ?? '') ?? '/dashboard';

/** True if the person's role has this access. Null: no role is needed. */
export const may = ({ me }: Pick<Screen, 'me'>, need: Need | null): boolean => need === null || hasRole(me.role as Role, need);

/** True if the person's role may do this act of the screen. */
export const mayAct = (screen: Pick<Screen, 'me' | 'acts'>, act: string): boolean => may(screen, screen.acts[act]?.needs ?? null);

/** Refusal of a page that has nothing but an act, for a role that may not do it. */
export const beyondRole = ({ c, me, acts }: Screen, act: string): Refusal => ({
  ok: false,
  status: 403,
  code: 'invalid_authorization',
  detail: `The role ${me.role} may not do this.`,
  problems: [],
  meta: { needs: rolesWith(acts[act]!.needs!) },
  requestId: c.var.requestId,
  retryAfter: null,
});

/** Refusal of a page about an object that no operation reads by itself. */
export const notFound = (c: Screen['c'], detail: string): Refusal => ({
  ok: false,
  status: 404,
  code: 'not_found',
  detail,
  problems: [],
  meta: {},
  requestId: c.var.requestId,
  retryAfter: null,
});

/** Refusal of a final act without the name that confirms it. */
export const notTyped = (c: Screen['c'], name: string): Refusal => ({
  ok: false,
  status: 422,
  code: 'validation_error',
  detail: 'Nothing was changed.',
  problems: [{ loc: ['body', 'confirm'], msg: `Type “${name}” exactly` }],
  meta: {},
  requestId: c.var.requestId,
  retryAfter: null,
});

/** Leaves the pages after an act that ended the session. */
export function leaveSignedOut({ c }: Screen, answer: Answer<unknown>): Acted {
  if (!answer.ok) return answer;
  dropToken(c);
  return { ok: true, leaveTo: '/login?why=out' };
}
