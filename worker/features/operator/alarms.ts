import { formatErrorChain } from '#core/errors.ts';
import { DAY, iso } from '#core/time.ts';
import { type Ctx, type Env, newCtx } from '#platform/context.ts';
import { logRequest } from '#platform/log.ts';
import { postAlarm } from '#platform/providers/alarm.ts';
import { hasMail, mailProviderOf } from '#platform/providers/mail/mail-providers.ts';
import { type Alarm, claimNotification, endAlarms, noteAlarms, releaseNotification } from './alarms.store.ts';
import { findTrouble } from './health-checks.ts';

const NOTIFY_AGAIN_MS = DAY;

/**
 * Runs the health checks and notifies the operator: once when an alarm has lasted long enough, daily while it lasts, and once when it ends.
 * Does nothing without a configured address. Uses no queue and no sweep, because those may be stuck. Never throws.
 */
export async function notifyAlarms(env: Env, now: number): Promise<void> {
  const notes: string[] = [];
  const requestId = `alarms_${now}`;
  try {
    const ctx = newCtx(env, { requestId, kind: 'job', wallNow: now, defer: () => {}, note: (reason) => notes.push(reason) });
    const { ALARM_URL, ALARM_EMAIL } = ctx.config;
    if (ALARM_URL === undefined && ALARM_EMAIL === undefined) return;
    await updateAlarms(ctx);
  } catch (error) {
    notes.push(formatErrorChain(error));
  }
  if (notes.length > 0) logRequest({ request_id: requestId, notes });
}

async function updateAlarms(ctx: Ctx): Promise<void> {
  const { db } = ctx.databases[0];
  const found = await findTrouble(ctx);
  const patience = new Map(found.map(({ name, patienceMs }) => [name, patienceMs]));
  const ended = await endAlarms(db, [...patience.keys()]);
  for (const alarm of ended) if (alarm.notifiedAt > 0) await notifyOperator(ctx, alarm, 'over');
  const alarms = await noteAlarms(
    db,
    found.map(({ name, finding }) => ({ name, finding })),
    ctx.wallNow,
  );
  for (const alarm of alarms) {
    const isDue =
      alarm.notifiedAt === 0 ? alarm.since + patience.get(alarm.name)! <= ctx.wallNow : alarm.notifiedAt + NOTIFY_AGAIN_MS <= ctx.wallNow;
    if (!isDue || !(await claimNotification(db, alarm, ctx.wallNow))) continue;
    if (!(await notifyOperator(ctx, alarm, 'began'))) await releaseNotification(db, alarm, ctx.wallNow);
  }
}

/** Notifies by every configured channel. Returns true if one of them accepted. */
async function notifyOperator(ctx: Ctx, { name, finding, since }: Alarm, what: 'began' | 'over'): Promise<boolean> {
  const service = ctx.baseUrl || 'the service';
  const text = what === 'began' ? `${service}: ${finding}` : `${service}: over: ${finding}`;
  const { ALARM_URL } = ctx.config;
  const alarm = { text, alarm: name, status: what === 'began' ? 'firing' : 'resolved', since: iso(since), at: iso(ctx.wallNow) };
  const results = await Promise.all([ALARM_URL === undefined ? false : postAlarm(ALARM_URL, alarm), writeToOperator(ctx, name, text)]);
  if (!results.some(Boolean)) ctx.note(`alarm ${name} could not be sent`);
  return results.some(Boolean);
}

async function writeToOperator(ctx: Ctx, name: string, text: string): Promise<boolean> {
  const { ALARM_EMAIL: to } = ctx.config;
  if (to === undefined || !hasMail(ctx)) return false;
  const html = `<p>${text.replace(/[&<>]/g, (one) => `&#${one.charCodeAt(0)};`)}</p>`;
  const id = `alarm-${name}-${ctx.wallNow}`;
  const outcome = await mailProviderOf(ctx.config).send(ctx, {
    id,
    from: ctx.config.MAIL_FROM,
    to,
    subject: text.slice(0, 120),
    html,
    text,
  });
  if (outcome.kind !== 'sent') ctx.note(`mail alarm: ${outcome.reason}`);
  return outcome.kind === 'sent';
}
