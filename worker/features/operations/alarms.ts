import { storyOf } from '#core/errors.ts';
import { DAY, iso } from '#core/time.ts';
import { type Ctx, type Env, newCtx } from '#platform/context.ts';
import { logRequest } from '#platform/log.ts';
import { postAlarm } from '#platform/providers/alarm.ts';
import { hasMail, mailProviderOf } from '#platform/providers/mail/mail-providers.ts';
import { type Alarm, claimTelling, endAlarms, noteAlarms, unclaimTelling } from './alarms.store.ts';
import { findTrouble } from './trouble.ts';

/** While it lasts it is told again so often. */
const TELL_AGAIN_MS = DAY;

/**
 * Looks for trouble and tells the operator, once when it has lasted long enough, once a day while it lasts, and once when it is over. Nothing is
 * looked at where no address is configured. Goes by no queue and no sweep, because those are what may be stuck. Never throws.
 */
export async function tellAlarms(env: Env, now: number): Promise<void> {
  const notes: string[] = [];
  const requestId = `alarms_${now}`;
  try {
    const ctx = newCtx(env, { requestId, kind: 'job', wallNow: now, defer: () => {}, note: (reason) => notes.push(reason) });
    const { ALARM_URL, ALARM_EMAIL } = ctx.config;
    if (ALARM_URL === undefined && ALARM_EMAIL === undefined) return;
    await followTrouble(ctx);
  } catch (error) {
    notes.push(storyOf(error));
  }
  if (notes.length > 0) logRequest({ request_id: requestId, notes });
}

async function followTrouble(ctx: Ctx): Promise<void> {
  const { db } = ctx.databases[0];
  const found = await findTrouble(ctx);
  const patience = new Map(found.map(({ name, patienceMs }) => [name, patienceMs]));
  const ended = await endAlarms(db, [...patience.keys()]);
  for (const alarm of ended) if (alarm.toldAt > 0) await tellOperator(ctx, alarm, 'over');
  const alarms = await noteAlarms(
    db,
    found.map(({ name, finding }) => ({ name, finding })),
    ctx.wallNow,
  );
  for (const alarm of alarms) {
    const isDue = alarm.toldAt === 0 ? alarm.since + patience.get(alarm.name)! <= ctx.wallNow : alarm.toldAt + TELL_AGAIN_MS <= ctx.wallNow;
    if (!isDue || !(await claimTelling(db, alarm, ctx.wallNow))) continue;
    if (!(await tellOperator(ctx, alarm, 'began'))) await unclaimTelling(db, alarm, ctx.wallNow);
  }
}

/** By every way that is configured; true where one of them took it. */
async function tellOperator(ctx: Ctx, { name, finding, since }: Alarm, what: 'began' | 'over'): Promise<boolean> {
  const place = ctx.baseUrl || 'the service';
  const text = what === 'began' ? `${place}: ${finding}` : `${place}: over: ${finding}`;
  const { ALARM_URL } = ctx.config;
  const alarm = { text, alarm: name, status: what === 'began' ? 'firing' : 'resolved', since: iso(since), at: iso(ctx.wallNow) };
  const told = await Promise.all([ALARM_URL === undefined ? false : postAlarm(ALARM_URL, alarm), writeToOperator(ctx, name, text)]);
  if (!told.some(Boolean)) ctx.note(`alarm ${name} could not be sent`);
  return told.some(Boolean);
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
