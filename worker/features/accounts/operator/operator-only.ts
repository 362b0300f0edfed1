import { createMiddleware } from 'hono/factory';
import { type AccountId, SERVICE_ACCOUNT_ID } from '#core/ids.ts';
import { HOUR } from '#core/time.ts';
import type { Ctx } from '#platform/context.ts';
import { recordAction } from '#platform/db/audit/record-action.ts';
import { hasStaffEntry } from '#platform/db/audit/recorded.ts';
import { commit } from '#platform/db/commit.ts';
import { globalOf } from '#platform/db/directory.ts';
import type { AppEnv } from '#platform/http/openapi.ts';
import { requireOperator } from './operator.ts';

const REASON_MAX = 500;

/** Acts on the deployment, with the fields of the body that an entry shows. Others read, or touch an account and its log. */
const RECORDED: Record<string, readonly string[]> = {
  '/v1/operator/switches': ['subject', 'to'],
  '/v1/operator/bounces': [],
  '/v1/operator/dead-letters': ['ids'],
  '/v1/operator/names/rebuild': [],
  '/v1/operator/reconcile': ['since'],
  '/v1/operator/partitions/move': ['partition', 'to'],
  '/v1/operator/partitions/cancel': ['partition'],
  '/v1/operator/partitions/close': ['database'],
  '/v1/operator/partitions/open': ['database'],
};

function reasonOf(header: string | undefined): string | undefined {
  if (!header) return undefined;
  try {
    return decodeURIComponent(header).slice(0, REASON_MAX);
  } catch {
    return header.slice(0, REASON_MAX);
  }
}

/** Runs before the body is read: a caller without the secret learns nothing about the route. */
export const operatorOnly = createMiddleware<AppEnv>(async (c, next) => {
  const { ctx } = c.var;
  const name = requireOperator(ctx, c.req.header('X-Svc-Operator-Secret'));
  ctx.acting.operator = { name, reason: reasonOf(c.req.header('X-Svc-Operator-Reason')) };
  await next();
  const shown = c.req.method === 'POST' ? RECORDED[c.req.path] : undefined;
  if (shown && c.res.ok && ctx.acting.recorded.size === 0) await recordAct(ctx, c.req.path, c.var.body as Record<string, unknown>, shown);
});

/** Records an act that concerns no account in the log of the service, in the first database. Calls that repeat to continue an act have one entry. */
async function recordAct(ctx: Ctx, path: string, body: Record<string, unknown>, shown: readonly string[]): Promise<void> {
  const merchantId = SERVICE_ACCOUNT_ID as AccountId;
  const home = globalOf(ctx);
  const after = Object.fromEntries(shown.map((field) => [field, body[field]]));
  const id = [`POST ${path}`, ...(path.endsWith('/move') ? Object.values(after) : [])].join(' ');
  const action = 'operator.acted';
  const isContinued = path.endsWith('/move') || 'after' in body;
  const unless = isContinued ? hasStaffEntry({ merchantId, action, since: ctx.wallNow - HOUR }, id) : undefined;
  const entry = recordAction(home, { merchantId, livemode: true }, { action, subject: { type: 'operation', id }, after }, unless);
  await commit(home, { events: [], writes: [entry], result: null });
}
