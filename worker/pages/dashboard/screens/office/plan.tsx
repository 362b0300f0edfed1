import { PAID_PLANS, PLAN_DAYS, PLANS } from '#rules/plans.ts';
import { Table } from '../../../parts/table.tsx';
import { idempotent } from '../../frame/acts.ts';
import { ActForm, ActSection, SelectField } from '../../frame/fields.tsx';
import { Time } from '../../frame/format.tsx';
import { Facts } from '../../frame/list.tsx';
import type { Acted, Definition } from '../../frame/screen.tsx';

interface Billing {
  plan: string;
  status: string;
  current_period_end: string | null;
  cancel_at_period_end: boolean;
  source: string;
  usage: Record<string, number>;
  limits: Record<string, number | null>;
}

const CHOICES = PAID_PLANS.map((plan) => [plan, plan.slice(0, 1).toUpperCase() + plan.slice(1)] as const);
const toLimit = (max: number): string => (Number.isFinite(max) ? String(max) : 'no limit');
const COMPARED = ['Plan', `Price of ${PLAN_DAYS} days`, 'Templates', 'API keys', 'Webhook endpoints', 'Members', 'Requests a minute'];
const COMPARISON = CHOICES.map(([id, name]) => {
  const { priceUsdc, activeProductsMax, activeKeysMax, enabledEndpointsMax, seatsMax, requestsPerMinute } = PLANS[id];
  return [name, `${priceUsdc} USDC`, ...[activeProductsMax, activeKeysMax, enabledEndpointsMax, seatsMax, requestsPerMinute].map(toLimit)];
});
const PAYERS: Record<string, string> = { processor: 'card', x402: 'USDC' };
const NAMES: Record<string, string> = { keys: 'API keys', endpoints: 'Webhook endpoints', products: 'Templates' };

/** Link to the card processor. A form of the page cannot lead to another site, so the person follows the link. */
const leadTo = (url: string, text: string): Acted => ({
  ok: true,
  shown: (
    <section class="once">
      <p>
        <a class="button" href={url}>
          {text}
        </a>
      </p>
    </section>
  ),
});

export const PLAN: Definition = {
  path: '/dashboard/billing',
  title: 'Plan',
  async body(screen) {
    const billing = await screen.operations.call<Billing>('getBillingSummary');
    if (!billing.ok) return billing;
    const { plan, status, current_period_end: end, cancel_at_period_end: isEnding, usage, limits, source } = billing.value;
    return (
      <>
        <section>
          <Facts
            rows={[
              ['Plan', plan],
              ['Paid by', PAYERS[source]],
              ['State', status === 'none' ? undefined : status.replaceAll('_', ' ')],
              [isEnding ? 'Ends' : 'Next period', end && <Time at={end} />],
            ]}
          />
          <Table
            caption="Used of what the plan allows"
            head={['What', 'Used', 'Allowed']}
            rows={Object.entries(usage).map(([name, used]) => [
              NAMES[name] ?? name,
              String(used),
              limits[name] === null ? 'no limit' : String(limits[name]),
            ])}
          />
        </section>
        <ActSection screen={screen} act="choose" title="Choose plan">
          <Table caption="Plans" head={COMPARED} rows={COMPARISON} />
          <ActForm screen={screen} act="choose" submit="Choose plan">
            <SelectField screen={screen} act="choose" name="plan" label="Plan" options={CHOICES} value={plan} />
          </ActForm>
          <p>
            A plan is paid by card, or in USDC by a call of the API: <a href="/docs/account">how a plan is paid in USDC</a>
          </p>
          {source === 'processor' && <ActForm screen={screen} act="card" submit="Manage card" />}
        </ActSection>
      </>
    );
  },
  acts: {
    choose: {
      needs: 'billing:write',
      done: 'Follow the link to pay.',
      async run({ operations }, form) {
        const made = await operations.call<{ checkout_url: string }>('createBillingCheckout', {
          body: { plan: form.plan },
          ...idempotent(form),
        });
        return made.ok ? leadTo(made.value.checkout_url, 'Pay by card') : made;
      },
    },
    card: {
      needs: 'billing:write',
      done: 'Follow the link to your card.',
      async run({ operations }, form) {
        const made = await operations.call<{ portal_url: string }>('createBillingPortal', { body: {}, ...idempotent(form) });
        return made.ok ? leadTo(made.value.portal_url, 'Open the card’s page') : made;
      },
    },
  },
};
