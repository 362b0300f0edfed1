import { z } from '@hono/zod-openapi';
import { IDEMPOTENCY_KEY } from '#core/limits.ts';
import { PAID_PLANS, type PaidPlan, PLAN_DAYS, PLANS, type PlanName } from '#rules/plans.ts';
import type { SetupStatus } from '#rules/states.ts';
import type { Manifest } from './manifest/schema.ts';

/** Next step of an agent: a call that can be made as is, once the values in <angle brackets> are filled in. */
export const NextActionBody = z
  .object({
    action: z.string(),
    method: z.enum(['GET', 'POST', 'PUT']),
    path: z.string(),
    description: z.string(),
    headers: z.record(z.string(), z.string()).optional(),
    body: z.record(z.string(), z.unknown()).optional(),
  })
  .openapi('NextAction');
type NextAction = z.infer<typeof NextActionBody>;

interface Stage {
  setupIntentId: string;
  status: SetupStatus;
  activePlan: PlanName;
  plan: PlanName | null;
  hasLiveKey: boolean;
  manifest: Manifest | null;
  /** Plans of pending payments. Null for a plan that cannot be derived from its payment. */
  pendingPlans: (PlanName | null)[];
}

const BOOTSTRAP = '/v1/access/agent-bootstrap';
const SECRET = { setup_secret: '<setup_secret>' };
const SANDBOX_KEY = { 'X-Svc-Key': '<sandbox_api_key>' };
const LIVE_KEY = { 'X-Svc-Key': '<live_api_key>' };
const ONCE = { 'Idempotency-Key': `<${IDEMPOTENCY_KEY.min} to ${IDEMPOTENCY_KEY.max} visible characters, new for every request>` };

export const manifestPath = (setupIntentId: string): string => `${BOOTSTRAP}/${setupIntentId}/manifest`;
export const activationPath = (plan: PaidPlan): string => `/v1/access/x402/activate/${plan}`;

const startAction: NextAction = {
  action: 'start_again',
  method: 'POST',
  path: BOOTSTRAP,
  description: 'This setup has ended: its keys are revoked and its endpoints disabled. Start a new one.',
  body: { agent_name: '<name of the agent>' },
};

const submitAction = ({ setupIntentId, status }: Stage): NextAction => ({
  action: status === 'changes_required' ? 'fix_manifest' : 'submit_manifest',
  method: 'POST',
  path: manifestPath(setupIntentId),
  description:
    status === 'changes_required'
      ? 'Correct every finding of severity error in `evaluation.findings`, then send the complete manifest again.'
      : 'Say what you sell and where the money goes. It is evaluated at once, with findings you can act on; nothing of it is fetched.',
  body: { ...SECRET, manifest_version: '1', name: '<name of what you sell>' },
});

const approveAction = ({ setupIntentId }: Stage, { live }: { live: boolean }): NextAction => ({
  action: live ? 'issue_live_key' : 'approve',
  method: 'POST',
  path: `${BOOTSTRAP}/${setupIntentId}/approve`,
  description: live
    ? 'Approve the manifest and have a live key. It is shown once, in that answer.'
    : 'Approve the manifest without a live key. One can be issued later, once a plan is active.',
  body: { ...SECRET, issue_live_key: live, live_mode_confirmed: live },
});

const goLiveAction = (stage: Stage): NextAction =>
  stage.manifest?.live_requested === true
    ? approveAction(stage, { live: true })
    : {
        action: 'request_live',
        method: 'POST',
        path: manifestPath(stage.setupIntentId),
        description: 'Send the manifest again with live_requested: true. Findings list the additional requirements of live mode.',
        body: { ...SECRET, ...stage.manifest, live_requested: true },
      };

const waitAction = ({ setupIntentId, pendingPlans }: Stage): NextAction => {
  const paths = pendingPlans.filter((plan) => plan !== null && plan !== 'free').map((plan) => `POST ${activationPath(plan)}`);
  return {
    action: 'await_payment',
    method: 'POST',
    path: `${BOOTSTRAP}/${setupIntentId}/status`,
    description: `A payment is in flight (\`pending_payments\`), and the setup stays open until the chain has decided. Ask again in a few seconds, or send the same payment again${paths.length > 0 ? ` to ${paths.join(', ')}` : ''}. Do not create a new payment meanwhile.`,
    body: SECRET,
  };
};

const activateActions = (stage: Stage): NextAction[] => (stage.pendingPlans.length > 0 ? [waitAction(stage)] : buyActions(stage));

const buyActions = ({ plan: asked }: Stage): NextAction[] =>
  PAID_PLANS.filter((plan) => asked === null || asked === 'free' || plan === asked).map((plan) => ({
    action: 'activate_plan',
    method: 'POST',
    path: activationPath(plan),
    description: `Pay ${PLANS[plan].priceUsdc} USDC by x402 for ${PLAN_DAYS} days of ${plan}: the call returns 402 with a PAYMENT-REQUIRED header. Repeat it with PAYMENT-SIGNATURE. A live key requires a plan, and a setup with a plan does not expire. Public x402 clients refuse more than $1 by default: setSpendControls({ maxAmountPerPayment: '$${PLANS[plan].priceUsdc}' }).`,
    headers: { 'X-Svc-Setup-Secret': '<setup_secret>' },
  }));

const trySandboxActions: NextAction = {
  action: 'try_sandbox',
  method: 'POST',
  path: '/v1/access/products',
  description:
    'Try everything with the sandbox key meanwhile: products, entitlements, consume and webhooks. The sandbox never uses the real chain.',
  headers: { ...SANDBOX_KEY, ...ONCE },
  body: { name: 'Trial', price: { asset: 'USDC', amount: '0.01' } },
};

/** Returns the manifest's declarations as calls. Approval applies none of them: money settings need an explicit call. */
const settleActions = ({ manifest }: Stage): NextAction[] => [
  ...(manifest?.payout
    ? [
        {
          action: 'set_payout',
          method: 'PUT' as const,
          path: `/v1/access/rail-settings/${manifest.payout.rail_id}`,
          description:
            'Set the payout wallet of this rail, as in your manifest. A key may set the first wallet of an account; any other requires a person with a recent sign-in.',
          headers: { ...LIVE_KEY, ...ONCE },
          body: { payout_wallet: manifest.payout.wallet_address },
        },
      ]
    : []),
  ...(manifest?.products ?? []).map((product) => ({
    action: 'create_product',
    method: 'POST' as const,
    path: '/v1/access/products',
    description: `Create "${product.name}", ready for sale.`,
    headers: { ...LIVE_KEY, ...ONCE },
    body: { ...product, live_mode_confirmed: true },
  })),
  ...(manifest?.webhooks ?? []).map((webhook) => ({
    action: 'create_webhook',
    method: 'POST' as const,
    path: '/v1/webhooks/endpoints',
    description: 'Subscribe to payment events. The response shows the signing secret once.',
    headers: LIVE_KEY,
    body: { ...webhook },
  })),
  ...checkActions(manifest),
];

function checkActions(manifest: Manifest | null): NextAction[] {
  const names = (manifest?.products ?? []).flatMap(({ external_product_id: name }) => (name === undefined ? [] : [name]));
  const queries = names.length > 0 ? names.map((name) => `?external_product_id=${encodeURIComponent(name)}`) : [''];
  return queries.map((query) => ({
    action: 'check_readiness',
    method: 'GET',
    path: `/v1/access/setup/readiness${query}`,
    description: `List what a first sale still requires, with the call that resolves each item.${query ? '' : ' Name a product: ?product_id='}`,
    headers: LIVE_KEY,
  }));
}

export function nextActionsOf(stage: Stage): NextAction[] {
  const isPaid = stage.activePlan !== 'free';
  switch (stage.status) {
    case 'created':
    case 'changes_required':
      return [submitAction(stage), ...(isPaid ? [] : activateActions(stage)), trySandboxActions];
    case 'ready':
      return isPaid
        ? [goLiveAction(stage), trySandboxActions]
        : [...activateActions(stage), approveAction(stage, { live: false }), trySandboxActions];
    case 'approved':
      if (stage.hasLiveKey) return settleActions(stage);
      return isPaid ? [goLiveAction(stage), trySandboxActions] : [...activateActions(stage), trySandboxActions];
    case 'expired':
      return [startAction];
  }
}
