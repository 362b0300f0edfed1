import { BODY_KB } from '#core/limits.ts';

/** Codes of a request that is not as it has to be: who calls, what it says, and how often it comes. */
export const REFUSED_REQUESTS = {
  idempotency_key_required: {
    why: 'This call moves money or units, so it has to be safe to send twice, and the header that makes it so is missing or too short.',
    next: 'Make a new random value, a UUID for example, for each thing you want done. Send it as `Idempotency-Key`, and send the same one when you repeat the request.',
  },
  idempotency_key_too_long: {
    why: 'The header holds more than a key: often a whole URL or a JSON text.',
    next: 'Send a UUID, or a hash of what you wanted to send.',
  },
  idempotency_key_invalid: {
    why: 'A space, a line break or a letter outside ASCII stands in the header, usually because it was copied with quotes or from a text.',
    next: 'Send letters, digits and punctuation of ASCII without spaces, a UUID for example.',
  },
  invalid_rpc_payload: {
    why: 'A chain data provider’s webhook is answered so when its body is not the list of transactions that this service reads.',
    next: 'Choose the provider’s webhook for enhanced transactions, and point it at /v1/products/webhook/rpc.',
  },
  invalid_state: {
    why: 'The sign-in with Google or GitHub was begun in another browser, more than ten minutes ago, or has been finished already.',
    next: 'Go back to the sign-in page and begin again, in the same browser.',
  },
  invalid_product_type: {
    why: 'The field `product_type` holds a word that this service does not know.',
    next: 'Send `api`, `link`, `telegram` or `discord`, or leave it out: then it is `api`.',
  },
  invalid_authorization: {
    why: 'With status 401 no credential came, or it is cut short, unknown, over or revoked. With 403 it is a good one that may not do this: a read key that writes, a sandbox key in live mode, or a sign-in that is too long ago; `meta.reason` says which.',
    next: 'Send a key as `X-Svc-Key: svc_live_…`, or a session token as `Authorization: Bearer …`. A key is shown once, when it is made: if it is lost, make another at /dashboard and revoke the old one with `DELETE /v1/keys/{key_id}`.',
  },
  invalid_credentials: {
    why: 'The password does not fit the e-mail, or the text for the wallet to sign was used before or is too old. For your safety the answer is the same where no such account exists.',
    next: 'Try again. A forgotten password is set anew at /login; a wallet asks for a new text with POST /v1/auth/wallet/nonce.',
  },
  connector_secret_invalid: {
    why: 'The Telegram or Discord connector called without its shared secret, or with one that was turned since.',
    next: 'Set the connector’s secret to the value this deployment has, and send it in `X-Svc-Connector-Secret`.',
  },
  webhook_signature_failed: {
    why: 'What came is not signed with the secret this deployment shares with the provider, or its bytes were changed on the way, or the signature is older than five minutes.',
    next: 'Compare the secret on both sides, sign the exact bytes of the body, and let both clocks follow network time.',
  },
  admin_requires_staff: {
    why: 'The permission `admin` is for the people who run this deployment.',
    next: 'Ask for `read` and `execute`. They do everything a merchant needs.',
  },
  handoff_secret_mismatch: {
    why: 'The link to the checkout was altered, or was made by another deployment.',
    next: 'Make a new one with POST /v1/products/{product_id}/handoffs and send the buyer there unchanged.',
  },
  not_found: {
    why: 'Either there is no such path, and then `meta.reason` is `unknown_path` and `meta.nearest` the path you may have meant. Or there is no such object, or it belongs to another account or to the other mode (live or sandbox): those look alike on purpose. Or this deployment has not configured it, and then `meta.reason` is `not_configured`.',
    next: 'Check the path against /v1/docs. For an object, check that the key is of the account and the mode that made it: keys that begin with `svc_test_` see only what the sandbox holds.',
  },
  method_not_allowed: {
    why: 'The path is right, but it takes another method, such as POST in the place of GET.',
    next: 'Use one of the methods in the `Allow` header of the answer.',
  },
  payload_too_large: {
    why: `A body has at most ${BODY_KB.usual} KB; what providers send at most ${BODY_KB.provider} KB, a manifest and invoice metadata ${BODY_KB.long / 1024} MB.`,
    next: 'Send less: keep long texts and pictures where you host them, and send their addresses.',
  },
  unsupported_media_type: {
    why: 'The body is not announced as JSON: the `Content-Type` header is missing or names a form.',
    next: 'Send `Content-Type: application/json`, with curl: `-H "content-type: application/json"`.',
  },
  validation_error: {
    why: 'One or more fields are missing or are not as they have to be. `detail` is a list: `loc` says where, `msg` says what.',
    next: 'Mend each place in the list. Amounts are texts with a point, as `"12.50"`: USDC has 6 decimals, SOL has 9.',
  },
  unknown_field: {
    why: 'The body has a field that this route does not know. Nothing is ever dropped silently, because a misspelt wallet or period would cost money.',
    next: 'Look at `detail[].ctx.nearest`: the known field whose name is nearest. Rename the field or take it out.',
  },
  no_change: {
    why: 'The request asks for what is so already, or names nothing to change.',
    next: 'Nothing has to be done. To change something, send at least one field with a new value.',
  },
  password_too_short: {
    why: 'A password has 8 to 128 characters.',
    next: 'Choose a longer one; a sentence is easy to keep.',
  },
  invalid_permissions: {
    why: 'The field `permissions` is empty or holds another word.',
    next: 'Send a list such as `["read", "execute"]`.',
  },
  identity_verification_required: {
    why: 'The seller wants to know who buys, because access is given on Telegram or Discord, and the buyer has not said it yet.',
    next: 'Send the buyer to the `deep_link` of POST /v1/products/p/{slug}/identity, and pay when they have come back. The checkout page does it by itself.',
  },
  invalid_wallet_address: {
    why: 'Money sent to this address could never be spent: it is no address of Solana, a token account, a token’s mint, a program, or a key of this service. `meta.reason` says which.',
    next: 'Copy the address that your wallet shows under “Receive”. Where `meta.owner` is given, that wallet owns the token account you named: use it.',
  },
  rate_limited: {
    why: 'Too many requests came in too short a time from this key or this address, or your plan’s budget for the day is used up.',
    next: 'Wait for the seconds in `Retry-After`, then go on more slowly. The limits of each plan stand in `x-limits` of /v1/openapi.json.',
  },
  plan_limit_reached: {
    why: 'Your plan allows no more of these at once. `meta` names the limit, how many there are, and the plan. Waiting does not help.',
    next: 'Archive a product, revoke a key or disable an endpoint that you do not need, or choose a larger plan: `POST /v1/billing/checkout/processor` answers the page to pay on.',
  },
} as const;
