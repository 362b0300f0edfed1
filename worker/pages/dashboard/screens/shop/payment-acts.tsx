import { acted, idempotent, textOf } from '../../frame/acts.ts';
import { ActForm, ActSection, SelectField, TextField } from '../../frame/fields.tsx';
import { amountOf } from '../../frame/format.tsx';
import { signPathOf } from '../../frame/head.tsx';
import type { Acted, Definition, Form, Screen } from '../../frame/screen.tsx';
import { isLeft, leftOf, type Paid } from './payment-parts.tsx';

export interface TimelineEntry {
  at: string;
  kind: string;
  type: string;
  event_id?: string;
  delivery_id?: number;
  status?: string;
}

const REVOKES = [
  ['false', 'stays'],
  ['true', 'ends'],
] as const;

/** Signature of a transaction in base58. */
const SIGNATURE = /^[1-9A-HJ-NP-Za-km-z]{80,90}$/;

/** Form of a refund, or of one that the wallet just signed, until the payment shows it. */
export function RefundForms({ screen, payment }: { screen: Screen; payment: Paid }) {
  const { price, refunded = [] } = payment;
  const named = screen.c.req.query('tx_signature') ?? '';
  const signature = SIGNATURE.test(named) ? named : screen.refused?.typed.tx_signature;
  if (signature !== undefined && !refunded.some((one) => one.tx_signature === signature))
    return (
      <ActSection screen={screen} act="refund_confirm" title="Refund">
        <p>The refund is signed. The payment shows it once the chain has it.</p>
        <ActForm screen={screen} act="refund_confirm" submit="Confirm refund">
          <input type="hidden" name="tx_signature" value={signature} />
        </ActForm>
      </ActSection>
    );
  if (!isLeft(payment)) return null;
  return (
    <ActSection screen={screen} act="refund" title="Refund">
      <p>The wallet that was paid signs on the next page.</p>
      <ActForm screen={screen} act="refund" submit="Refund" isFinal>
        <input type="hidden" name="asset" value={price.asset} />
        <TextField
          screen={screen}
          act="refund"
          name="amount.amount"
          label={`Amount in ${price.asset}`}
          help={`Empty: ${amountOf(leftOf(payment))}, all that is left`}
          isOptional
        />
        <SelectField screen={screen} act="refund" name="revoke_access" label="Access that it paid" options={REVOKES} value="false" />
      </ActForm>
    </ActSection>
  );
}

/** Prepares the transaction of a refund, and leads to the page where the wallet signs it. */
async function beginRefund(screen: Screen, form: Form): Promise<Acted> {
  const { c, operations, mode } = screen;
  const amount = textOf(form['amount.amount']);
  const prepared = await operations.call<{ transaction: string }>('prepareRefund', {
    params: { payment_id: c.req.param('payment_id') ?? '' },
    query: { mode },
    body: { ...(amount === undefined ? {} : { amount: { asset: form.asset, amount } }), revoke_access: form.revoke_access === 'true' },
    ...idempotent(form),
  });
  if (prepared.ok) return { ok: true, leaveTo: signPathOf(screen, prepared.value.transaction) };
  // The form has one field for the amount, which the API also refuses as a pair.
  const problems = prepared.problems.map((problem) =>
    problem.loc[1] === 'amount' ? { ...problem, loc: ['body', 'amount', 'amount'] } : problem,
  );
  return { ...prepared, problems };
}

/** Most entries of the timeline that one press sends again. */
const RESENT_MAX = 120;

interface TimelinePage {
  items: TimelineEntry[];
  next: string | null;
}

/** Replays one delivery for each event and endpoint in a page of the payment's timeline. A longer one offers its next page. */
async function resend(screen: Screen, { idempotency_key: key, after }: Form): Promise<Acted> {
  const { c, operations, mode } = screen;
  const page = { order: 'desc', limit: String(RESENT_MAX), ...(after && { after }), mode };
  const timeline = await operations.call<TimelinePage>('getWebhookTimeline', {
    query: { payment_id: c.req.param('payment_id') ?? '', ...page },
  });
  if (!timeline.ok) return timeline;
  const again = new Map<string, string>();
  let refused: Acted = { ok: true };
  for (const { delivery_id: id } of timeline.value.items) {
    if (id === undefined) continue;
    const at = { params: { delivery_id: String(id) }, query: { mode } };
    const sent = await operations.call<{ event_id: string; endpoint_id: string }>('getWebhookDelivery', at);
    if (sent.ok) again.set(`${sent.value.event_id} ${sent.value.endpoint_id}`, String(id));
    else refused = sent;
  }
  let count = 0;
  for (const id of again.values()) {
    const at = { params: { delivery_id: id }, query: { mode }, idempotencyKey: `${key}-${id}` };
    const replayed = await operations.call('replayWebhookDelivery', at);
    if (replayed.ok) count++;
    else refused = replayed;
  }
  const { next } = timeline.value;
  // A disabled endpoint does not hold up the others.
  if (next === null) return count > 0 ? { ok: true } : refused;
  return refused.ok || count > 0 ? { ok: true, shown: <Older screen={screen} count={count} after={next} /> } : refused;
}

/** Says how many events were sent, where a payment has more than one press sends. */
const Older = ({ screen, count, after }: { screen: Screen; count: number; after: string }) => (
  <section class="once" role="status">
    <p>{`Deliveries on their way again: ${count}. Older events of this payment were not sent yet.`}</p>
    <ActForm screen={screen} act="resend" submit="Send older events again">
      <input type="hidden" name="after" value={after} />
    </ActForm>
  </section>
);

export const REFUND: Definition['acts'] = {
  refund: { needs: 'refunds:write', done: '', run: beginRefund },
  refund_confirm: {
    needs: 'refunds:write',
    done: 'The payment shows the refund as soon as the chain has it.',
    run: async ({ c, operations, mode }, form) =>
      acted(
        await operations.call('confirmRefund', {
          params: { payment_id: c.req.param('payment_id') ?? '' },
          query: { mode },
          body: { tx_signature: form.tx_signature },
          ...idempotent(form),
        }),
      ),
  },
};
export const RESEND: Definition['acts'] = { resend: { needs: 'webhooks:write', done: 'The events are on their way again.', run: resend } };
