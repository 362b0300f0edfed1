import { BODY_KB } from '#core/limits.ts';

/** Codes of a refused request: credential, content and rate. */
export const REFUSED_REQUESTS = {
  idempotency_key_required: {
    why: 'The call moves money or units, so it must be safe to repeat. The header that makes it safe is missing or too short.',
    next: 'Generate a random value, a UUID for example, for each operation. Send it as `Idempotency-Key`, and send the same value when you repeat the request.',
  },
  idempotency_key_too_long: {
    why: 'The header holds more than a key, often a whole URL or a JSON text.',
    next: 'Send a UUID, or a hash of the request.',
  },
  idempotency_key_invalid: {
    why: 'The header contains a space, a line break or a character outside ASCII, usually because it was copied with quotes or from a text.',
    next: 'Send letters, digits and punctuation of ASCII without spaces, a UUID for example.',
  },
  invalid_rpc_payload: {
    why: 'The webhook body of a chain data provider is not a list of enhanced transactions.',
    next: 'Select the provider’s webhook for enhanced transactions, and point it at /v1/products/webhook/rpc.',
  },
  invalid_state: {
    why: 'The sign-in with Google or GitHub was started in another browser, was started more than ten minutes ago, or is already finished.',
    next: 'Return to the sign-in page and start again, in the same browser.',
  },
  invalid_product_type: {
    why: 'The field `product_type` has an unknown value.',
    next: 'Send `api`, `link`, `telegram` or `discord`, or omit the field: the default is `api`.',
  },
  invalid_authorization: {
    why: 'Status 401: the credential is missing, incomplete, unknown, expired or revoked. Status 403: the credential is valid but lacks the permission, for example a read key that writes, a sandbox key in live mode, or an old sign-in; `meta.reason` has the reason.',
    next: 'Send a key as `X-Svc-Key: svc_live_…`, or a session token as `Authorization: Bearer …`. A key is shown once, when it is created. If it is lost, create another one at /dashboard and revoke the old one with `DELETE /v1/keys/{key_id}`.',
  },
  invalid_credentials: {
    why: 'The password does not match the email address, or the message for the wallet was used before or has expired. The answer is the same if the account does not exist.',
    next: 'Try again. Reset a forgotten password at /login. Request a new message for a wallet with POST /v1/auth/wallet/nonce.',
  },
  factor_required: {
    why: 'The password, wallet, provider or link was right, and the person has a passkey or an authenticator app: the sign-in needs that too. `meta.methods` lists what can be sent, and `meta.ticket` is valid for `meta.expires_in` seconds.',
    next: 'Send the ticket to POST /v1/auth/factor, with `totp`, with `recovery_code`, or with a passkey by the options of POST /v1/auth/passkey/options.',
  },
  connector_secret_invalid: {
    why: 'The Telegram or Discord connector called without its shared secret, or with a rotated one.',
    next: 'Set the connector’s secret to the value of this deployment, and send it in `X-Svc-Connector-Secret`.',
  },
  webhook_signature_failed: {
    why: 'The request is not signed with the secret that this deployment shares with the provider, its bytes were changed on the way, or the signature is older than five minutes.',
    next: 'Compare the secret on both sides, sign the exact bytes of the body, and synchronize both clocks.',
  },
  admin_requires_staff: {
    why: 'The permission `admin` is reserved for the operators of this deployment.',
    next: 'Request `read` and `execute`. They cover everything a merchant needs.',
  },
  handoff_secret_mismatch: {
    why: 'The checkout link was altered, or was created by another deployment.',
    next: 'Create a new link with POST /v1/products/{product_id}/handoffs and send the buyer to it unchanged.',
  },
  not_found: {
    why: 'The path does not exist: `meta.reason` is `unknown_path` and `meta.nearest` is the closest path. Or the object does not exist, or belongs to another account or to the other mode (live or sandbox): the answer is the same on purpose. Or this deployment has not configured the feature: `meta.reason` is `not_configured`.',
    next: 'Check the path against /v1/docs. For an object, check that the key belongs to the account and mode that created it: keys that begin with `svc_test_` see only sandbox objects.',
  },
  method_not_allowed: {
    why: 'The path exists but requires another method, such as POST instead of GET.',
    next: 'Use one of the methods in the `Allow` header of the response.',
  },
  payload_too_large: {
    why: `A body has at most ${BODY_KB.usual} KB; a provider’s webhook at most ${BODY_KB.provider} KB, a manifest and invoice metadata at most ${BODY_KB.long / 1024} MB.`,
    next: 'Send less: host long texts and images elsewhere, and send their URLs.',
  },
  unsupported_media_type: {
    why: 'The body is not declared as JSON: the `Content-Type` header is missing or names a form.',
    next: 'Send `Content-Type: application/json`, with curl: `-H "content-type: application/json"`.',
  },
  validation_error: {
    why: 'One or more fields are missing or not valid. `detail` is a list: `loc` has the location, `msg` the problem.',
    next: 'Correct each listed field. Amounts are texts with a point, such as `"12.50"`: USDC has 6 decimals, SOL has 9.',
  },
  unknown_field: {
    why: 'The body has a field that this route does not know. Unknown fields are never ignored, because a misspelt wallet or period would cost money.',
    next: 'Read `detail[].ctx.nearest`: the closest known field. Rename the field or remove it.',
  },
  no_change: {
    why: 'The request matches the current state, or has no field to change.',
    next: 'No action is required. To change something, send at least one field with a new value.',
  },
  password_too_short: {
    why: 'A password has 8 to 128 characters.',
    next: 'Choose a longer one; a sentence is easy to remember.',
  },
  password_too_common: {
    why: 'The password is one of the 100,000 commonest, which are guessed first. Capital letters make no difference.',
    next: 'Choose another; a sentence is easy to remember.',
  },
  invalid_permissions: {
    why: 'The field `permissions` is empty or has an unknown value.',
    next: 'Send a list such as `["read", "execute"]`.',
  },
  identity_verification_required: {
    why: 'The seller requires the buyer’s identity, because access is delivered on Telegram or Discord, and the buyer has not proven it yet.',
    next: 'Send the buyer to the `deep_link` of POST /v1/products/p/{slug}/identity, and pay after they return. The checkout page does this by itself.',
  },
  invalid_wallet_address: {
    why: 'Money sent to this address could never be spent: it is not a Solana address, or it is a token account, a token mint, a program, or a key of this service. `meta.reason` has the reason.',
    next: 'Copy the address that your wallet shows under “Receive”. If `meta.owner` is present, that wallet owns the token account: use it.',
  },
  rate_limited: {
    why: 'The key or the address sent too many requests in too short a time, or the plan’s daily budget is used up.',
    next: 'Wait for the seconds in `Retry-After`, then continue more slowly. `x-limits` of /v1/openapi.json lists the limits of each plan.',
  },
  payer_limit_reached: {
    why: 'The payer’s payments for this product have reached `max_per_payer_per_day`, or would exceed it: usually an agent in a loop. `meta` has the limit, what was paid today and when the day ends. Nothing was charged.',
    next: 'Do not pay again before `meta.resets_at`, which `Retry-After` counts to. What was paid can still be consumed. The merchant can raise the limit of the product.',
  },
  plan_limit_reached: {
    why: 'The plan’s limit of active objects is reached. `meta` has the limit and the current number. Waiting does not help, except with too many open checkouts of one product (`meta.reason` is `open_sessions`).',
    next: 'Archive a product, revoke a key or disable an endpoint that you do not need, or upgrade: `POST /v1/billing/checkout/processor` returns the payment page.',
  },
} as const;
