/**
 * Merchant journeys: guides on `/docs` and flows in `/llms.txt`. The commands continue the shell of the first sale. A test runs them all.
 * @module
 */

interface Journey {
  id: string;
  title: string;
  intro: string;
  calls: string[];
  command: string;
}

export const JOURNEYS: readonly Journey[] = [
  {
    id: 'checkout',
    title: 'Checkout',
    intro:
      'Send buyers to the `checkout_url` of a product, or create a link for one buyer with a fixed price, paid once. Unlock on the ' +
      '`payment.confirmed` webhook, or after your server has read the payment.',
    calls: [
      'POST /v1/access/payment-sessions',
      'POST /v1/products/p/{slug}/connect',
      'POST /v1/pay/confirm',
      'GET /v1/payments/{payment_id}',
    ],
    command: `api $BASE/v1/access/payment-sessions -H "idempotency-key: order-$RANDOM$RANDOM$RANDOM" \\
  -d '{"product_id":"'$PRODUCT'","customer_ref":"user-42"}' | json .checkout_url`,
  },
  {
    id: 'memberships',
    title: 'Memberships',
    intro:
      'A confirmed payment creates or extends a membership, until `paid_through`. Find a buyer’s membership by wallet, `customer_ref` or email address.',
    calls: ['GET /v1/memberships', 'GET /v1/memberships/lookup'],
    command: `api "$BASE/v1/memberships?product_id=$PRODUCT" | json .total`,
  },
  {
    id: 'webhooks',
    title: 'Webhooks',
    intro:
      'The response has the `secret`, once. Verify the raw body with `constructEvent` of `stripe` and the header `X-Svc-Signature`, or with ' +
      '`verify` of `standardwebhooks`, and process each `id` once. Any 2xx within 15 seconds counts; failed deliveries are retried for three days.',
    calls: ['POST /v1/webhooks/endpoints', 'POST /v1/webhooks/endpoints/{endpoint_id}/test', 'GET /v1/webhooks/deliveries'],
    command: `api $BASE/v1/webhooks/endpoints -d '{"url":"https://shop.example.com/hooks","event_types":["payment.*"]}' | json .secret`,
  },
  {
    id: 'x402',
    title: 'Pay per request (x402)',
    intro:
      'Before billable work, consume a unit. 403 `entitlement_missing` or `subscription_expired` has a PAYMENT-REQUIRED header: answer ' +
      '402 with it. When the buyer repeats the request with PAYMENT-SIGNATURE, settle it, and serve only after success. To sell many uses ' +
      'at once, set `origins` of the x402 rail: buyers with `createSIWxClientExtension` of `@x402/extensions` come back by SIGN-IN-WITH-X, ' +
      'which consume takes as `sign_in`. In TypeScript, `protect()` of `@paylatch/sdk` (for Hono, Express, Fastify, Next.js ' +
      'and fetch handlers) does all of this.',
    calls: ['POST /v1/access/entitlements/consume', 'POST /v1/access/x402/settle', 'POST /v1/access/entitlements/refund'],
    command: `CALL=$(api $BASE/v1/products -d '{"name":"Forecast, one call","price":{"asset":"USDC","amount":"0.01"},
  "live_mode_confirmed":true,"payout_wallet":"'"$PAYOUT"'"}' | json .product_id)
curl -sS $BASE/v1/access/entitlements/consume -H "x-svc-key: $KEY" -H "idempotency-key: call-$RANDOM$RANDOM$RANDOM" \\
  -H 'content-type: application/json' -d '{"product_id":"'$CALL'","customer":{"customer_ref":"agent-7"}}' | json .code`,
  },
  {
    id: 'subscriptions',
    title: 'Subscriptions',
    intro:
      'A product with `renewal_mode: AUTOMATIC` is collected once per period with the consent of the buyer’s wallet. Only that wallet cancels it, ' +
      'at `/s/{authorization_id}`. Publish its plan first: sign the `transaction` of `plan.json` at `/sign` with the payout wallet, then confirm it.',
    calls: [
      'POST /v1/access/products/{product_id}/subscription-plan',
      'POST /v1/access/products/{product_id}/subscription-plan/confirm',
      'GET /v1/access/native-subscriptions/{authorization_id}',
      'POST /v1/access/native-subscriptions/{authorization_id}/stop',
    ],
    command: `MONTHLY=$(api $BASE/v1/products -d '{"name":"Forecasts, every month","price":{"asset":"USDC","amount":"5"},
  "renewal_mode":"AUTOMATIC","live_mode_confirmed":true,"payout_wallet":"'"$PAYOUT"'"}' | json .product_id)
api $BASE/v1/access/products/$MONTHLY/subscription-plan -X POST -H "idempotency-key: plan-$MONTHLY" > plan.json
json .transaction < plan.json`,
  },
  {
    id: 'metered',
    title: 'Metered sessions',
    intro:
      'Sell text by the token or data by the row: the buyer opens a payment channel once and signs vouchers, and one transaction settles them. ' +
      'Reserve the price of a delivery, deliver once it is committed, and close the session. The payout wallet needs a USDC account.',
    calls: [
      'POST /v1/access/metered-sessions',
      'POST /v1/access/metered-sessions/{session_id}/deliveries',
      'POST /v1/access/metered-sessions/{session_id}/close',
    ],
    command: `api $BASE/v1/access/metered-sessions -H "idempotency-key: session-$RANDOM$RANDOM$RANDOM" \\
  -d '{"product_id":"'$CALL'","cap":{"asset":"USDC","amount":"1"}}' | json .authorize_url`,
  },
  {
    id: 'refunds',
    title: 'Refunds, and late, short or double payments',
    intro:
      'Prepare a refund here and sign it with your wallet at `/sign`; `revoke_access` also ends the access. Late, short and double payments ' +
      'are in `unmatched` of the payment until you accept them.',
    calls: [
      'POST /v1/payments/{payment_id}/refund-transaction',
      'POST /v1/payments/{payment_id}/refund-confirm',
      'POST /v1/payments/{payment_id}/accept-unmatched',
    ],
    command: `api "$BASE/v1/payments?product_id=$PRODUCT&status=CONFIRMED" | json .total`,
  },
  {
    id: 'sandbox',
    title: 'Sandbox',
    intro:
      'A sandbox key runs the same code on a simulated chain, without a wallet or money. Scenarios pay, fail, renew and expire automatically, each ' +
      'session on its own clock.',
    calls: [
      'GET /v1/testing/scenarios',
      'POST /v1/testing/sessions',
      'POST /v1/testing/sessions/{session_id}/advance',
      'POST /v1/testing/pay',
    ],
    command: `TEST_KEY=$(curl -sS --fail-with-body $BASE/v1/keys -H "authorization: Bearer $TOKEN" -H 'content-type: application/json' \\
  -d '{"name":"tests","sandbox_mode":true}' | json .raw_key)
curl -sS --fail-with-body $BASE/v1/testing/sessions -H "x-svc-key: $TEST_KEY" -H 'content-type: application/json' \\
  -d '{"scenario":"payment_confirmed"}' | json .session_id`,
  },
  {
    id: 'going-live',
    title: 'Going live',
    intro:
      'Check readiness: each failing check has the call that resolves it. Agents can buy products with `live_mode_confirmed: true` and ' +
      'a payout wallet with a USDC account. Verify your email address to receive security alerts.',
    calls: ['GET /v1/access/setup/readiness', 'PUT /v1/access/rail-settings/{rail_id}', 'POST /v1/account/email/verification'],
    command: `api "$BASE/v1/access/setup/readiness?product_id=$PRODUCT" | json .ready`,
  },
];
