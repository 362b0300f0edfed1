/**
 * Markdown of the pages of `/docs` that the code writes: the index, all error codes and the page of each.
 * @module
 */

import { ERRORS, type ErrorCode } from '../../../worker/core/errors.ts';
import { CHECKS } from '../../../worker/features/readiness/check-codes.ts';
import { CLIENT_CODES } from '../../../worker/published/errors/client-codes.ts';
import { errorExample } from '../../../worker/published/errors/example.ts';
import { ERROR_HELP } from '../../../worker/published/errors/words.ts';
import { firstSale } from '../../../worker/published/site/guide.ts';
import { JOURNEYS } from '../../../worker/published/site/journeys.ts';

/** Address in examples, which the Worker replaces by its own. */
const ADDRESS = 'https://pay.example.com';

const shell = (command: string): string => `\`\`\`sh\n${command}\n\`\`\``;

/** Markdown of `/docs`. A heading may end with the id that its links use. */
export const indexMarkdown = (): string => `# Documentation

The service sells access to what you offer, and buyers pay straight to your Solana wallet, in USDC or SOL. It confirms each payment, grants
access and signs a receipt. It holds no money and no keys. Three ways to sell:

- A page without code: [the dashboard](/docs/dashboard) makes a checkout page, and you send its link to buyers.
- An app with a server: create products and grant access with [the API](#first-sale), and hear of payments by [webhooks](/docs/webhooks).
- An API for agents: sell [single requests](/docs/pay-per-request) to any x402 client.

${[{ id: 'first-sale', title: 'Your first sale' }, ...JOURNEYS].map(({ id, title }) => `[${title}](#${id})`).join(' · ')}

- [API reference](/v1/docs), with requests to send from the page, and the [OpenAPI 3.1 document](/v1/openapi.json) itself
- [Every error code](/docs/errors): meaning, cause and next step
- [llms.txt](/llms.txt) and [llms-full.txt](/llms-full.txt) for language models, and each operation as Markdown, such as
  [/v1/docs/createProduct.md](/v1/docs/createProduct.md)

## Your first sale {#first-sale}

Put your own wallet in the second line, then paste the block into a shell. The last line of the output is the URL of your checkout page.

${shell(firstSale(ADDRESS))}

Open that page and pay. With \`npm run dev\`, the page has a demo wallet. The guides below continue in the same shell.

${JOURNEYS.map(
  ({ id, title, intro, command, calls }) =>
    `## ${title} {#${id}}\n\n${intro}\n\n${shell(command)}\n\n${calls.map((call) => `- \`${call}\``).join('\n')}\n`,
).join('\n')}
## Authentication {#who-calls}

Your server sends a key in \`X-Svc-Key\`. \`svc_live_…\` acts on real money, \`svc_test_…\` on the sandbox with its simulated chain.
A person sends a session token as \`Authorization: Bearer …\`. A key is shown once, when it is created.

## Idempotency {#twice}

Send an \`Idempotency-Key\` with every write. The same request with the same key has one effect and gets the same response.
Retry errors with \`retryable: true\`.

## Agents

An agent without a person starts with \`POST /v1/access/agent-bootstrap\`: every response lists the next calls.

## Readiness

\`GET /v1/access/setup/readiness\` lists the missing requirements of a sale. Each failing check has a \`fix\`: the call that resolves it.
While a blocking check fails, \`ready\` is false. The dashboard says the same at each template.

${Object.entries(CHECKS)
  .map(([code, meaning]) => `### \`${code}\`\n\n${meaning}`)
  .join('\n\n')}

## Unknown payout wallet {#not-you}

1. Set your own wallet again: \`PUT /v1/access/rail-settings/{rail_id}\`, and \`payout_wallet\` of each product that names another one
   (\`PATCH /v1/products/{product_id}\`). Both require a sign-in within the last 15 minutes.
2. Revoke every key that you did not create: \`GET /v1/keys\`, then \`DELETE /v1/keys/{key_id}?with=endpoints\`.
3. Set a new password with \`PATCH /v1/account/me/security\`. All sessions end.

[Sign in](/login)
`;

interface Explained {
  code: string;
  message: string;
  why: string;
  next: string;
  /** Sentence about the origin of the code and about retries. */
  facts: string;
  after: string;
}

const errorMarkdown = ({ code, message, why, next, facts, after }: Explained): string => `# \`${code}\`

${facts}

## What happened

${message}

## Why

${why}

## What to do

${next}
${after}`;

const ofService = (code: ErrorCode): Explained => {
  const { status, message, retryable } = ERRORS[code];
  const retry = retryable ? 'The same request may succeed later.' : 'The same request fails again until its cause is resolved.';
  const after = `
## How it looks

\`\`\`json
${JSON.stringify(errorExample(code), null, 2)}
\`\`\`

The operator finds a request by its \`request_id\`, which is in the header \`X-Svc-Request-Id\` too.
`;
  return { code, message, ...ERROR_HELP[code], facts: `Status ${status}. ${retry}`, after };
};

const ofSdk = (code: string): Explained => {
  const { retryable, ...words } = CLIENT_CODES[code]!;
  const retry = retryable ? 'The same request may succeed later.' : 'The same request fails again.';
  return { code, ...words, facts: `From the SDK. ${retry}`, after: '' };
};

/** Markdown of the page of each error code. */
export const errorPages = (): Record<string, string> =>
  Object.fromEntries(
    [...(Object.keys(ERRORS) as ErrorCode[]).map(ofService), ...Object.keys(CLIENT_CODES).map(ofSdk)].map((explained) => [
      explained.code,
      errorMarkdown(explained),
    ]),
  );

const linesOf = (codes: { code: string; message: string }[]): string =>
  codes.map(({ code, message }) => `- [\`${code}\`](${ADDRESS}/docs/errors/${code}.md): ${message}`).join('\n');

/** Markdown of `/docs/errors`: all codes by status. */
export function errorListMarkdown(): string {
  const codes = (Object.keys(ERRORS) as ErrorCode[]).map((code) => ({ code, ...ERRORS[code] }));
  const groups = [...Map.groupBy(codes, ({ status }) => status)].toSorted(([a], [b]) => a - b);
  const client = Object.entries(CLIENT_CODES).map(([code, { message }]) => ({ code, message }));
  return `# Error codes

Every error is \`{detail, code, request_id, docs_url, retryable, meta}\`. Branch on \`code\`, never on the text.

${groups.map(([status, some]) => `## Status ${status}\n\n${linesOf(some)}\n`).join('\n')}
## Codes of the SDK

${linesOf(client)}
`;
}
