/**
 * `/llms.txt` convention: a title, a summary, then links. Calls come from the published document, and one that is missing there is left
 * out. Prices come from the plans.
 * @module
 */

import { IDEMPOTENCY_KEY } from '#core/limits.ts';
import { PAID_PLANS, PLAN_DAYS, PLANS } from '#rules/plans.ts';
import { operationsOf, type PublishedDocument } from './discovery.ts';
import { operationText } from './reference/operation-text.ts';
import { firstSale } from './site/guide.ts';
import type { GuideEntry } from './site/guides/read-guides.ts';
import { JOURNEYS } from './site/journeys.ts';

interface Flow {
  title: string;
  intro: string;
  calls: string[];
  command?: (baseUrl: string) => string;
}

const FLOWS: Flow[] = [
  {
    title: 'Start as an agent, without a person',
    command: (baseUrl) =>
      `curl -sS --fail-with-body ${baseUrl}/v1/access/agent-bootstrap -H 'content-type: application/json' -d '{"agent_name":"Weather agent","plan":"starter"}'`,
    intro:
      'The first call needs no credential and returns `setup_secret` and `sandbox_api_key` once. Every response has `next_actions`: calls ' +
      'to make with your own values for each `<…>`. The manifest is evaluated; correct the findings of severity `error`. A live key ' +
      'requires a plan and a manifest with `live_requested: true`.',
    calls: [
      'POST /v1/access/agent-bootstrap',
      'POST /v1/access/agent-bootstrap/{setup_intent_id}/manifest',
      'POST /v1/access/agent-bootstrap/{setup_intent_id}/approve',
      'POST /v1/access/agent-bootstrap/{setup_intent_id}/status',
    ],
  },
  {
    title: 'Buy a plan by x402',
    intro:
      'Call with `X-Svc-Setup-Secret`, a live key or a token (with a sandbox key, a test wallet pays and the plan does not change). The call returns 402 with PAYMENT-REQUIRED. Pay, and repeat it with PAYMENT-SIGNATURE. ' +
      '202 means that the outcome is not known yet: send the same payment again, never another.',
    calls: PAID_PLANS.map((plan) => `POST /v1/access/x402/activate/${plan}`),
  },
  {
    title: 'Start as a person',
    intro: 'Register, create a key, create a product, and send buyers to its `checkout_url`. Keys are shown once.',
    command: firstSale,
    calls: ['POST /v1/auth/register', 'POST /v1/keys', 'POST /v1/products'],
  },
  {
    title: 'Set up a sale',
    intro: 'Set the payout wallet, create a product, and check readiness: every failing check has the call that resolves it.',
    calls: [
      'PUT /v1/access/rail-settings/{rail_id}',
      'POST /v1/access/products',
      'POST /v1/webhooks/endpoints',
      'GET /v1/access/setup/readiness',
    ],
  },
  {
    title: 'Sell with an unmodified x402 resource server',
    intro: 'Point its facilitator at `/v1/access/x402/facilitator` and send your key as `X-Svc-Key`. `payTo` is your own payout wallet.',
    calls: [
      'GET /v1/access/x402/facilitator/supported',
      'POST /v1/access/x402/facilitator/verify',
      'POST /v1/access/x402/facilitator/settle',
    ],
  },
  ...JOURNEYS.map(({ command, ...flow }) => ({ ...flow, command: () => command })),
];

const RULES = [
  'Amounts are `{asset, amount, base_units}`: decimal strings with their base units. More decimals than those of the asset are refused.',
  'Errors are `{detail, code, request_id, docs_url, retryable, meta}`. Branch on `code`, never on the text; `docs_url` is a page that explains it.',
  'Retry only if `retryable` is true, after `Retry-After` seconds if the header is present.',
  `Any write takes an \`Idempotency-Key\`, and some require it: ${IDEMPOTENCY_KEY.min} to ${IDEMPOTENCY_KEY.max} visible ASCII characters, new for every request, the same for its retries. The response to a retry is byte-equal and has \`Idempotent-Replayed: true\`. Sign-in, plans, the facilitator, an agent’s setup and the deletion of an account need none.`,
  'Never send a private key or a seed phrase: a body that contains one is refused.',
  'A sandbox key (`svc_test_`) never uses the real chain. Its objects are invisible to a live key (`svc_live_`).',
];

/** Path of an operation's own page, so that a reader loads one call and not all. */
const operationPath = (operationId: string): string => `/v1/docs/${operationId}.md`;

type Published = ReturnType<typeof operationsOf>[number];

const linkTo = (baseUrl: string, { method, path, operation }: Published): string =>
  `- [${method} ${path}](${baseUrl}${operationPath(operation.operationId)}): ${operation.summary ?? ''}`;

const head = [
  '# Merchant payments and access on Solana',
  '',
  '> Sell access to a resource and be paid in USDC on Solana, straight to your own wallet. Agents set themselves up, buy their plan and sell by the request, without a person.',
  '',
];

/** `/llms.txt`: flows with links to each call. Operations outside a flow are in `/llms-full.txt`. */
export function llmsText(baseUrl: string, document: PublishedDocument, guides: readonly GuideEntry[]): string {
  const operations = new Map(operationsOf(document).map((one) => [`${one.method} ${one.path}`, one]));
  const flows = FLOWS.flatMap(({ title, intro, calls, command }) => {
    const links = calls.flatMap((call) => (operations.has(call) ? [linkTo(baseUrl, operations.get(call)!)] : []));
    const sample = command ? ['```sh', command(baseUrl), '```', ''] : [];
    return links.length === 0 ? [] : [`## ${title}`, '', intro, '', ...sample, ...links, ''];
  });
  return `${[
    ...head,
    ...flows,
    '## Plans',
    '',
    `${PLAN_DAYS} days each, paid in USDC. Public x402 clients refuse more than $1 per payment by default, so raise the limit first:`,
    '',
    ...PAID_PLANS.map((plan) => {
      const { priceUsdc, requestsPerMinute, meteredPerSecond, feesPerDay } = PLANS[plan];
      const setting = `client.setSpendControls({ maxAmountPerPayment: '$${priceUsdc}' })`;
      return `- ${plan}: ${priceUsdc} USDC, ${requestsPerMinute} requests a minute, ${meteredPerSecond} consume and settle calls a second, the network's fee of ${feesPerDay} x402 payments a day. \`${setting}\``;
    }),
    '',
    '## Rules',
    '',
    ...RULES.map((rule) => `- ${rule}`),
    '',
    '## Guides',
    '',
    `- [Contents and first sale](${baseUrl}/docs.md)`,
    ...guides.map((guide) => guideLine(baseUrl, guide)),
    '',
    '## Documents',
    '',
    `- [Every operation](${baseUrl}/llms-full.txt): with fields, an example and errors, as one text`,
    `- [OpenAPI 3.1](${baseUrl}/v1/openapi.json): the same for programs, with \`x-payment-info\` for paid calls`,
    `- [Error codes](${baseUrl}/docs/errors.md): meaning, cause and next step`,
    `- [Paid calls](${baseUrl}/.well-known/x402): prices, and the catalogue of what agents can buy`,
  ].join('\n')}\n`;
}

const guideLine = (baseUrl: string, { path, title }: GuideEntry): string => `- [${title}](${baseUrl}/docs/${path}.md)`;

/** Text of an operation, with the guides that name it. If none does, the guide of its tag. */
function operationWithGuides(baseUrl: string, document: PublishedDocument, one: Published, guides: readonly GuideEntry[]): string {
  const { operationId, tags: [tag] = [] } = one.operation;
  const naming = guides.filter(({ operations }) => operations.includes(operationId));
  const { url } = document.tags?.find(({ name }) => name === tag)?.externalDocs ?? {};
  const shown = naming.length > 0 ? naming : guides.filter(({ path }) => url === `/docs/${path}`);
  const lines = shown.map((guide) => guideLine(baseUrl, guide));
  return [operationText(document, one, baseUrl), ...(lines.length > 0 ? ['## Guides', '', ...lines, ''] : [])].join('\n');
}

/** `/llms-full.txt`: `/llms.txt` and the full text of every operation. */
export const llmsFullText = (baseUrl: string, document: PublishedDocument, guides: readonly GuideEntry[]): string =>
  [llmsText(baseUrl, document, guides), ...operationsOf(document).map((one) => operationWithGuides(baseUrl, document, one, guides))].join(
    '\n---\n\n',
  );

/** `/v1/docs/{operation}.md`. Null for an unknown operation. */
export function operationPage(
  baseUrl: string,
  document: PublishedDocument,
  operationId: string,
  guides: readonly GuideEntry[],
): string | null {
  const found = operationsOf(document).find(({ operation }) => operation.operationId === operationId);
  return found ? operationWithGuides(baseUrl, document, found, guides) : null;
}
