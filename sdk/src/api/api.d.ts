// Made by sdk/generate.ts from our own OpenAPI document. Change the routes, not this file.

export interface paths {
  '/v1/auth/register': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Create an account
     * @description Create an account on the free plan.
     */
    post: operations['register'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/auth/login': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Log in with a password
     * @description Sign in with e-mail and password. After 100 tries for one account in an hour from addresses that never signed in to it, one more from such an address is 429 `rate_limited`, whether the account exists or not; a new password by e-mail opens it there.
     */
    post: operations['login'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/auth/wallet/nonce': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Get a sign-in message
     * @description A Sign-In With Solana text for this wallet to sign, good once and for five minutes.
     */
    post: operations['createWalletNonce'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/auth/wallet': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Log in with a wallet
     * @description Sign in with a wallet; the first time creates its account.
     */
    post: operations['loginWithWallet'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/auth/refresh': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Renew a token
     * @description For a token that is valid or expired at most 7 days ago, given in the body or as Bearer; at most 30 days after signing in.
     */
    post: operations['refreshToken'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/auth/logout': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Log out
     * @description Says goodbye; the client discards its token.
     */
    post: operations['logout'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/account/email/verification': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Send a verification e-mail
     * @description Registration sends one by itself. Its link works once, for 24 hours. After three e-mails within an hour none is sent.
     */
    post: operations['sendVerification'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/account/email/verify': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Verify an e-mail
     * @description Prove an address by the token of its e-mail.
     */
    post: operations['verifyEmail'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/account/email/preview': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Preview a verification link
     * @description The account that the link would verify the address of. It uses nothing up.
     */
    post: operations['previewVerification'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/account/email/disown': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Take an address off an account
     * @description For the reader of an address that another person made an account with: by the token of the verification e-mail. The account keeps all else. 409 `state_conflict` for an address that is verified.
     */
    post: operations['disownEmail'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/auth/password/forgot': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Ask for a new password
     * @description The same answer in the same time for every address. The link works once, for 30 minutes.
     */
    post: operations['forgotPassword'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/auth/password/reset': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Set a new password
     * @description Set a new password by the token of its e-mail; every session ends. Where the address was never verified, keys, endpoints, linked providers, the wallet that signs in and payout wallets end too, and sales that have begun are over; 409 `state_conflict` where buyers have paid the account and it has another way in.
     */
    post: operations['resetPassword'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/auth/oauth/providers': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List sign-in providers
     * @description Who else signs people in here, and what is missing for the others.
     */
    get: operations['listOAuthProviders'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/auth/oauth/{provider}/start': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Begin a provider’s sign-in
     * @description Sets a cookie that binds the sign-in to this browser, for ten minutes. With a token, which must be of a fresh sign-in, the provider is linked to that account. `mode` `login` opens an account that there is, `register` makes one too. `next` is a path of this service.
     */
    get: operations['startOAuth'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/auth/oauth/{provider}/callback': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Finish a provider’s sign-in
     * @description Goes on to `next` with the outcome in the fragment: `#token=…`, `#linked=<provider>`, or `#error=` with one of access_denied, account_not_found, account_suspended, account_deleted, email_unverified, identity_in_use, provider_unavailable. A state that was not made here, was used, is over or belongs to another browser is 400.
     */
    get: operations['finishOAuth'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/account/identities': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List linked providers
     * @description The providers this account signs in with.
     */
    get: operations['listIdentities'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/account/identities/{provider}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post?: never;
    /**
     * Unlink a provider
     * @description It needs a fresh sign-in. A second time it is simply so; the last way into an account stays (409 `state_conflict`).
     */
    delete: operations['unlinkIdentity'];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/account/me': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Get the account
     * @description The account that calls.
     */
    get: operations['getAccount'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    /**
     * Update the account
     * @description Settings are merged; an empty text clears one. `updated_fields` names what changed, settings as dotted paths. A `checkout_logo_url` is read whenever it is saved: a PNG or JPEG of at most 200 KB heads the PDFs of receipts; `detail` says where it cannot.
     */
    patch: operations['updateAccount'];
    trace?: never;
  };
  '/v1/account/me/security': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    /**
     * Change e-mail or password
     * @description An account without a password sets its first one within 15 minutes of signing in, without `current_password`. Sent again under its Idempotency-Key, with a token of a new sign-in, it has the same answer, and the old password is not asked for.
     */
    patch: operations['changeSecurity'];
    trace?: never;
  };
  '/v1/account/account': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post?: never;
    /**
     * Delete the account
     * @description It needs a person who signed in within the last 15 minutes. Sessions, keys and webhooks end, what names a person is erased, hand-offs are 410 and products 404. Payments, memberships and receipts stay: they are also the buyers’. A payment under way is still confirmed. It needs no Idempotency-Key: sent again it finds the account deleted, and is answered 403 `account_deleted`.
     */
    delete: operations['deleteAccount'];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/account/domain': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Get your domain
     * @description The domain that buyers are shown beside your name while it is verified, and the token that proves it. 404 where you have named none.
     */
    get: operations['getDomain'];
    /**
     * Set your domain
     * @description Put `{"account_id": "…", "token": "…"}` at `https://<domain>/.well-known/svc-merchant.json`, and call this again: it is looked at at once, and every day. The same domain keeps its token. At most one look in ten seconds.
     */
    put: operations['setDomain'];
    post?: never;
    /**
     * Remove your domain
     * @description Buyers are shown it no more. Removing none is fine.
     */
    delete: operations['deleteDomain'];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/account/delivery/readiness': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Whether members can be let in
     * @description What this service has for each messaging platform, what is missing, and what the last look at it showed.
     */
    get: operations['getDeliveryReadiness'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/account/delivery/test': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Test a messaging platform
     * @description Whether it knows the bot. A platform is asked at most once in ten seconds; in between the last answer is shown again. A sandbox key asks nobody.
     */
    post: operations['testDelivery'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/account/delivery/claims': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List claimed chats and guilds
     * @description Those that belong to the account, oldest first.
     */
    get: operations['listCommunityClaims'];
    put?: never;
    /**
     * Claim a chat or guild
     * @description A code that its administrator posts there. It is good for 10 minutes. A product names only what its account has claimed, and nobody else can claim it until it is given back.
     */
    post: operations['beginCommunityClaim'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/account/delivery/claims/{claim_id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post?: never;
    /**
     * Give a chat or guild back
     * @description Invitations that nobody used are taken back. Else nothing is given or taken away there any more, and another account may claim it.
     */
    delete: operations['deleteCommunityClaim'];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/integrations/connectors/{provider}/claims': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Complete a claim
     * @description For our connectors: where an administrator posted a code.
     */
    post: operations['completeCommunityClaim'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/account/summary': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Get the summary
     * @description How the workspace stands, each asset by itself.
     */
    get: operations['getAccountSummary'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/account/analytics': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Get analytics
     * @description Days are those of the account’s time zone. `start_date` and `end_date`, both included, go together and win over `window_days`; a window is at most 90 days. Refunds and payments that the chain dropped restate the day of the payment.
     */
    get: operations['getAnalytics'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/account/analytics.csv': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Export analytics
     * @description Days are those of the account’s time zone. `start_date` and `end_date`, both included, go together and win over `window_days`; a window is at most 90 days. Refunds and payments that the chain dropped restate the day of the payment.
     */
    get: operations['exportAnalytics'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/keys': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List keys
     * @description A token sees the keys of both modes unless it names one, a key those of its own. Of revoked keys the last hundred of each mode are listed.
     */
    get: operations['listKeys'];
    put?: never;
    /**
     * Create a key
     * @description A live key needs a person who signed in within the last 15 minutes (403 `sign_in_required`); a sandbox key does not.
     */
    post: operations['createKey'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/keys/{key_id}/resources': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List what a key made
     * @description Webhook endpoints and automation hooks that the key created, or gave their present URL or secret. They outlive the key.
     */
    get: operations['listKeyResources'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/keys/{key_id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post?: never;
    /**
     * Revoke a key
     * @description Revoke a key, at once and for ever. `with=endpoints` also disables the endpoints and hooks that the key made (`disabled_reason: key_revoked`).
     */
    delete: operations['revokeKey'];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/products/p/{slug}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Get a product’s page
     * @description What a buyer sees before paying.
     */
    get: operations['getOffer'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/products': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List products
     * @description Products of the workspace, newest first.
     */
    get: operations['listProducts'];
    put?: never;
    /**
     * Create a product
     * @description Create a product with a hosted checkout. `POST /v1/access/products` makes the same kind of product, for programs: it wants an `Idempotency-Key`.
     */
    post: operations['createProduct'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/products/{product_id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Get a product
     * @description One product.
     */
    get: operations['getProduct'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    /**
     * Update a product
     * @description Change what is given; sessions under way keep their terms.
     */
    patch: operations['updateProduct'];
    trace?: never;
  };
  '/v1/products/{product_id}/archive': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Archive a product
     * @description Take a product off sale; running sessions finish.
     */
    post: operations['archiveProduct'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/products/{product_id}/unarchive': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Unarchive a product
     * @description Put a product on sale again.
     */
    post: operations['unarchiveProduct'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/products/p/{slug}/connect': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Start a checkout
     * @description Without an asset it begins in the first of accepted_assets of the offer, or over the rail of the payment session. A payment session with a payment under way returns that one. In another asset it is 409 `other_asset` with `payment_id`, unless `replaces_payment_id` names it.
     */
    post: operations['connectBuyer'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/pay/{payment_id}/solana-pay': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Get a Solana Pay label
     * @description Solana Pay transaction request: who asks.
     */
    get: operations['getSolanaPay'];
    put?: never;
    /**
     * Make a Solana Pay transaction
     * @description Solana Pay transaction request: the transaction to sign.
     */
    post: operations['postSolanaPay'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/payments/{payment_id}/transaction': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Send a signed transaction
     * @description It must be the transaction that connect prepared, or a step of a subscription, signed. We keep its signature before it goes out, so closing the page loses nothing. While another one that we sent may still land: 409 `state_conflict` with `meta.reason` `in_flight` and Retry-After.
     */
    post: operations['sendTransaction'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/products/{product_id}/handoffs': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Create a hand-off
     * @description It is used once, within 10 minutes. What you say of the buyer stays with us: the link only names it.
     */
    post: operations['createHandoff'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/products/p/{slug}/handoff/{token}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Look at a hand-off
     * @description Whom a hand-off is for, without using it.
     */
    get: operations['resolveHandoff'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/products/p/{slug}/identity': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Begin a buyer’s identity
     * @description Send a buyer to the messaging platform to show who they are.
     */
    post: operations['openIdentitySession'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/integrations/connectors/{provider}/identity': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Complete a buyer’s identity
     * @description For our connectors: who came to show who they are.
     */
    post: operations['completeIdentity'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/payments': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List payments
     * @description Payments, newest first, with money that missed its session. With `status` and `product_id` together, `total` is exact up to 2,000.
     */
    get: operations['listPayments'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/payments/{payment_id}/accept-unmatched': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Accept unmatched money
     * @description For a late, short or second payment of this session, or one of a buyer who did not show who they are. A second time the answer is the same. The first period of a native subscription begins it. Money that the chain dropped meanwhile cannot be accepted: 409 `state_conflict`, `meta.reason: transaction_orphaned`.
     */
    post: operations['acceptUnmatched'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/receipt': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Claim a receipt
     * @description Idempotent: one transaction, one receipt. An open payment it pays is confirmed first.
     */
    post: operations['claimReceipt'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/payments/{payment_id}/refund-transaction': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Prepare a refund
     * @description From the wallet that was paid to the wallet that paid. Open `/sign#<transaction>` of this service to sign and send it. Once the chain shows it, it stands in `refunded` of the payment: never more than came in. While one that was prepared may still land: 409 `state_conflict` with `meta.reason` `in_flight`.
     */
    post: operations['prepareRefund'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/payments/{payment_id}/refund-confirm': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Confirm a refund
     * @description We look at the chain ourselves, and find it without being told, a little later. A second time the answer is the same.
     */
    post: operations['confirmRefund'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/payments/{payment_id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Get a payment
     * @description Public: the id is the capability. The owner sees more. For the active buyer session; merchants wait for the webhook.
     */
    get: operations['getPayment'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/pay/confirm': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Confirm a payment
     * @description We look at the chain ourselves. A signature the chain does not show yet is kept and rechecked, and changes nothing until it is proven; read the payment before you send it again. A transaction that does not pay this session is refused and changes nothing.
     */
    post: operations['confirmPayment'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/products/webhook/rpc': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Receive chain data
     * @description Enhanced transactions, one or a list, signed with HMAC-SHA256 over the raw body. Only their signatures are used, as a hint: the transaction is read from our own node, through the same pipeline as POST /v1/pay/confirm.
     */
    post: operations['receiveChainWebhook'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/memberships/lookup': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Look up a membership
     * @description By wallet_address, customer_ref, email or payment_id, each optionally with product_id. Of several, the one that lasts longest.
     */
    get: operations['lookupMembership'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/memberships': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List memberships
     * @description Memberships, newest first. With `wallet_address` and `status` together, `total` is exact up to 2,000.
     */
    get: operations['listMemberships'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/memberships/{membership_id}/retry-delivery': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Deliver access once more
     * @description Harmless twice. What is delivered, needs no delivery or has ended stays as it is; what could not be taken away is tried again.
     */
    post: operations['retryDelivery'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/receipt/{receipt_id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Get a receipt
     * @description The full signed receipt.
     */
    get: operations['getReceipt'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/receipts': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List receipts
     * @description Receipts, newest first. With `q`, `total` is exact up to 2,000.
     */
    get: operations['listReceipts'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/receipt/{receipt_id}/public': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Get a public proof
     * @description The proof anybody may see.
     */
    get: operations['getPublicReceipt'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/receipt/{receipt_id}/verify': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Verify a receipt
     * @description Recompute the hash and check the signature.
     */
    get: operations['verifyReceipt'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/receipt/{receipt_id}/pdf': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Get a proof as PDF
     * @description The public proof as a PDF.
     */
    get: operations['getReceiptPdf'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/receipt/{receipt_id}/pdf/private': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Get a receipt as PDF
     * @description The merchant’s copy as a PDF: with fee, net and invoice metadata.
     */
    get: operations['getPrivateReceiptPdf'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/receipts/export.csv': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Export receipts
     * @description RFC 4180, UTF-8, at most 100,000 rows; `X-Svc-Truncated: true` where there are more. A row has the price and the rate it was converted at, who bought, what was refunded in the asset of `amount`, and the time paid for: the period of a subscription, else the days bought, counted from the payment. A cell that a spreadsheet would take for a formula begins with a `'`.
     */
    get: operations['exportReceipts'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/receipt/{receipt_id}/invoice-metadata': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    /**
     * Write invoice details
     * @description Merged field by field; `null` takes a field away, a list replaces the one before. It stands beside the signed document, in the merchant’s own answers and copy alone. At most 16 KB altogether.
     */
    patch: operations['updateInvoiceMetadata'];
    trace?: never;
  };
  '/v1/receipt/{receipt_id}/send-proof': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Mail a proof
     * @description At most five a day of a receipt to one address, and 200 a day of an account, whose own address is verified (403 `invalid_authorization`, `meta.reason: email_unverified`). With a sandbox key nothing is sent.
     */
    post: operations['sendReceiptProof'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/webhooks/endpoints': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List endpoints
     * @description Endpoints, newest first.
     */
    get: operations['listWebhookEndpoints'];
    put?: never;
    /**
     * Create an endpoint
     * @description Create an endpoint; its secret is shown here and at rotation only.
     */
    post: operations['createWebhookEndpoint'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/webhooks/endpoints/{endpoint_id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post?: never;
    /**
     * Disable an endpoint
     * @description Disable an endpoint; it is not erased.
     */
    delete: operations['disableWebhookEndpoint'];
    options?: never;
    head?: never;
    /**
     * Update an endpoint
     * @description Change what is given; `status: enabled` revives.
     */
    patch: operations['updateWebhookEndpoint'];
    trace?: never;
  };
  '/v1/webhooks/endpoints/{endpoint_id}/rotate-secret': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Rotate a secret
     * @description A new secret; the old one signs beside it for a while.
     */
    post: operations['rotateWebhookSecret'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/webhooks/endpoints/{endpoint_id}/recover': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Recover missed events
     * @description At most 90 days back, and 20,000 events at a time, oldest first: ask again until `scheduled` is 0.
     */
    post: operations['recoverWebhookEndpoint'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/webhooks/deliveries': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List deliveries
     * @description Deliveries, newest first.
     */
    get: operations['listWebhookDeliveries'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/webhooks/deliveries/{delivery_id}/replay': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Replay a delivery
     * @description The same event once more, as a delivery of its own.
     */
    post: operations['replayWebhookDelivery'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/webhooks/timeline': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Get a timeline
     * @description Events of a payment or membership and their deliveries, oldest first unless `order` says otherwise. `next` is null on the last page; else send it as `after`. 404 for a payment or membership that is not yours.
     */
    get: operations['getWebhookTimeline'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/webhooks/events': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List events
     * @description Emitted events in the order they happened. With `event_type`, `total` is exact up to 2,000.
     */
    get: operations['listWebhookEvents'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/integrations/health': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Get delivery health
     * @description How well events leave the house.
     */
    get: operations['getIntegrationHealth'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/integrations/events': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List events for integrations
     * @description The same events as those of `GET /v1/webhooks/events`, for platforms that ask with `limit`: another name for `per_page`; both at once is 422.
     */
    get: operations['listIntegrationEvents'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/integrations/automation/hooks': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Subscribe a REST hook
     * @description REST hook: subscribe.
     */
    post: operations['subscribeHook'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/integrations/automation/hooks/{endpoint_id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post?: never;
    /**
     * Unsubscribe a REST hook
     * @description REST hook: unsubscribe.
     */
    delete: operations['unsubscribeHook'];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/integrations/mail/webhooks/{provider}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Receive mail events
     * @description Signed by the provider over the raw bytes. Nothing is sent again to an address that bounced or complained. Without its secret: 503 `mail_not_configured`, so that the provider keeps what it has to tell.
     */
    post: operations['receiveMailEvents'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/support/tickets': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List tickets
     * @description Tickets, the one somebody wrote to last first.
     */
    get: operations['listTickets'];
    put?: never;
    /**
     * Create a ticket
     * @description Text is text, and shown as it was written. An account writes at most 50 messages in an hour.
     */
    post: operations['createTicket'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/support/tickets/{ticket_id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Get a ticket
     * @description A ticket, its newest messages (at most 50), and the story of what it is about. Where there are older ones, `messages_before` says what `before` takes to read them.
     */
    get: operations['getTicket'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/support/tickets/{ticket_id}/message': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Add a message
     * @description Write on a ticket; a resolved one is open again.
     */
    post: operations['addTicketMessage'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/support/tickets/{ticket_id}/close': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Close a ticket
     * @description Close a ticket for good.
     */
    post: operations['closeTicket'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/support/tickets/{ticket_id}/resolve': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Resolve a ticket
     * @description Staff say that a ticket is answered; silent for 14 days, it is closed.
     */
    post: operations['resolveTicket'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/access/entitlements/consume': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Consume units
     * @description Serve only after 200. Where `code` is `entitlement_missing` or `subscription_expired`, answer 402 to your caller and pass the `PAYMENT-REQUIRED` header of this response on; it is also decoded in `meta.payment_required`. Branch on `code`, never on the status.
     */
    post: operations['consumeEntitlement'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/access/entitlements/grant': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Grant units or days
     * @description Give what the product sells without a payment: units where it counts units, days where it sells time, either or both where it sells both. Units add up. Days extend `paid_through` from now or from its end, whichever is later. A product sold for ever takes neither.
     */
    post: operations['grantEntitlement'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/access/entitlements/refund': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Refund a consumption
     * @description Possible for 24 hours. The key that consumed is answered 409 from then on, so that nothing is served for free.
     */
    post: operations['refundConsumption'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/access/entitlements': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List entitlements
     * @description Entitlements as of a few seconds ago. With `status` or a product, `total` is exact up to 2,000.
     */
    get: operations['listEntitlements'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/access/entitlements/{entitlement_id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Get an entitlement
     * @description One entitlement as it is this moment.
     */
    get: operations['getEntitlement'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/access/rails': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List rails
     * @description The ways of being paid, and how each is right now.
     */
    get: operations['listRails'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/access/rail-settings': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List rail settings
     * @description Your settings of every rail, and whether their payout accounts exist.
     */
    get: operations['listRailSettings'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/access/rail-settings/{rail_id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    /**
     * Set a rail
     * @description A key may name the first payout wallet of all, or one that is known already. In live mode any other needs a person who signed in within 15 minutes.
     */
    put: operations['putRailSetting'];
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/access/apps': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Create an app
     * @description Name an application that your products belong to.
     */
    post: operations['createAccessApp'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/access/products': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Create a product, retry-safe
     * @description The same product as POST /v1/products makes, in every rule; here the Idempotency-Key keeps a retry from making a second one.
     */
    post: operations['createAccessProduct'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/access/setup/readiness': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Check readiness
     * @description Name a product to have a whole sale judged; without one only the account is. A sandbox key is answered for the sandbox, where whatever concerns the chain is skipped. `app_found`: The named app exists, is yours and of this mode. Blocks. `product_found`: The named product exists, is yours, of this mode, and of the named app. Blocks. `product_active`: The product is neither archived nor switched off by the operator. Blocks. `price_set`: The price is in the asset of every rail the product is offered on. Blocks. `rail_enabled`: At least one rail is allowed and switched on, the service can serve each one that is, and the Solana node answers; so does the source of the price of SOL where another asset than that of the price is accepted. Blocks. `payout_wallet_set`: Every rail the product is offered on knows a wallet: the product’s, the rail’s or the account’s, and somebody can spend from it. Blocks. `payout_ata_exists`: The payout wallet has a USDC account. Blocks x402, whose buyers cannot create it; a warning where only checkout is offered. For a small price in SOL, the wallet holds enough to receive it. Blocks. `fee_wallet_configured`: A service that takes a fee has a wallet for it, which can receive it. Blocks checkout; only the operator can mend it. `webhook_endpoint_enabled`: An enabled endpoint hears of this product’s events. A warning: sales work without, you only do not hear of them. `plan_active`: Every plan sells, the free one too; a warning when a paid plan is about to end, since its limits end with it. `live_mode_confirmed`: You said that you are ready to be paid by those who buy by themselves. Blocks x402; plain checkout sells without it. `live_key_present`: A live key with execute exists. A warning: without one only a signed-in person’s token can consume and settle. `subscription_plan_published`: A product that renews itself has a published plan of its present terms. Blocks.
     */
    get: operations['getReadiness'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/access/products/available-rails': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List rails by product name
     * @description Every rail, and whether this product could be sold over it right now.
     */
    get: operations['listProductRailsByName'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/access/products/{product_id}/available-rails': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List a product’s rails
     * @description The same, by the id of the product.
     */
    get: operations['listProductRails'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/access/products/{product_id}/subscription-plan': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Get the plan of a product
     * @description The plan that buyers of a product with `renewal_mode` `AUTOMATIC` subscribe to, as the chain has it now.
     */
    get: operations['getSubscriptionPlan'];
    put?: never;
    /**
     * Publish the plan of a product
     * @description The transaction by which your payout wallet publishes the plan of the present price and period. Open `/sign#<transaction>` of this service to sign and send it, then confirm. What the plan says can never be changed: another price is another plan.
     */
    post: operations['prepareSubscriptionPlan'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/access/products/{product_id}/subscription-plan/confirm': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Confirm a published plan
     * @description Reads the plan back from the chain, every field of it. 422 `payment_mismatch` names the field that differs in `meta.reason`; `not_published` where none is there yet.
     */
    post: operations['confirmSubscriptionPlan'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/access/payment-sessions': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Create a payment session
     * @description Opens a checkout for one buyer, with the price and the customer fixed for 30 minutes. Connect with `payment_session_id` begins its payment; it holds at most one that is not over, and connect again returns that one. Connect in another asset is 409 `other_asset`, unless `replaces_payment_id` names it. After a failed payment a new one may begin while the session lives.
     */
    post: operations['createPaymentSession'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/access/x402/settle': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Settle an x402 payment
     * @description One payment counts once, for ever. Sent again under its key it gives the first result. Under any other key it answers, and keeps, `duplicate: true` with `consumed_units: 0` and what the customer holds by now, and the header `X-Svc-Duplicate-Settlement: true`: nothing may be served for that, unless what was consumed was refunded before; then it serves one more request. 202 means the outcome is not known yet: send the same payment again, never ask for a new one. We pay the network's fee of 100 payments a day (free), 5000 payments a day (starter), 50000 payments a day (growth), 500000 payments a day (scale), and free accounts share a budget of the deployment. Once half of it went to payments that failed on chain, the rest of the day is for wallets that have paid you before. Buying a plan uses none of these. A payer may have 5 payments open, and 10 that failed on chain in 10 minutes, over all merchants. Beyond that it is 429 `rate_limited`, and `meta` has the `reason` (`fee_budget` or `payer_busy`), the limit and what is left.
     */
    post: operations['settlePayment'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/access/x402/activate/starter': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Buy the starter plan
     * @description Costs 19 USDC, paid by x402 V2 to the service. Without PAYMENT-SIGNATURE the answer is 402 with the challenge in PAYMENT-REQUIRED; sent again with PAYMENT-SIGNATURE it is 200 with PAYMENT-RESPONSE. The public x402 client refuses more than $1 unless told otherwise: `client.setSpendControls({ maxAmountPerPayment: '$19' })`. What is paid for already keeps its value: the same plan lasts 30 days longer; a higher one begins now and lasts 30 days plus what was left, converted at the two prices. The 402 says in `meta` what that comes to: `plan` and `paid_through`, as if it were paid now. The new limits hold on the very next request. One payment counts once: sent again it gives the first answer. A lower plan while a higher one runs is 409; should a higher one have begun since the payment was sent, it is prolonged by what the money buys at its price. 202 means the outcome is not known yet: send the same payment again, never a new one; a setup does not end before it is. A plan that ends becomes free at that instant. Over a plan that does not end nothing is sold (409). In the sandbox a test wallet pays (POST /v1/testing/pay), all answers are those of a purchase, and the account keeps the plan it has.
     */
    post: operations['activateStarter'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/access/x402/activate/growth': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Buy the growth plan
     * @description Costs 49 USDC, paid by x402 V2 to the service. Without PAYMENT-SIGNATURE the answer is 402 with the challenge in PAYMENT-REQUIRED; sent again with PAYMENT-SIGNATURE it is 200 with PAYMENT-RESPONSE. The public x402 client refuses more than $1 unless told otherwise: `client.setSpendControls({ maxAmountPerPayment: '$49' })`. What is paid for already keeps its value: the same plan lasts 30 days longer; a higher one begins now and lasts 30 days plus what was left, converted at the two prices. The 402 says in `meta` what that comes to: `plan` and `paid_through`, as if it were paid now. The new limits hold on the very next request. One payment counts once: sent again it gives the first answer. A lower plan while a higher one runs is 409; should a higher one have begun since the payment was sent, it is prolonged by what the money buys at its price. 202 means the outcome is not known yet: send the same payment again, never a new one; a setup does not end before it is. A plan that ends becomes free at that instant. Over a plan that does not end nothing is sold (409). In the sandbox a test wallet pays (POST /v1/testing/pay), all answers are those of a purchase, and the account keeps the plan it has.
     */
    post: operations['activateGrowth'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/access/x402/activate/scale': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Buy the scale plan
     * @description Costs 199 USDC, paid by x402 V2 to the service. Without PAYMENT-SIGNATURE the answer is 402 with the challenge in PAYMENT-REQUIRED; sent again with PAYMENT-SIGNATURE it is 200 with PAYMENT-RESPONSE. The public x402 client refuses more than $1 unless told otherwise: `client.setSpendControls({ maxAmountPerPayment: '$199' })`. What is paid for already keeps its value: the same plan lasts 30 days longer; a higher one begins now and lasts 30 days plus what was left, converted at the two prices. The 402 says in `meta` what that comes to: `plan` and `paid_through`, as if it were paid now. The new limits hold on the very next request. One payment counts once: sent again it gives the first answer. A lower plan while a higher one runs is 409; should a higher one have begun since the payment was sent, it is prolonged by what the money buys at its price. 202 means the outcome is not known yet: send the same payment again, never a new one; a setup does not end before it is. A plan that ends becomes free at that instant. Over a plan that does not end nothing is sold (409). In the sandbox a test wallet pays (POST /v1/testing/pay), all answers are those of a purchase, and the account keeps the plan it has.
     */
    post: operations['activateScale'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/billing/summary': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Get the plan
     * @description The plan of the account, what gives it and what of it is used.
     */
    get: operations['getBillingSummary'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/billing/checkout/processor': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Pay for a plan by card
     * @description For a person who signed in within the last 15 minutes; a key is 403. Send that person to `checkout_url`. The same plan asked for again answers the same open page, and another plan ends it. An account that has a subscription is shown the change of that one. The pages that a person comes back to are on this service; without them it is the dashboard. The plan the account has is 409 `state_conflict`.
     */
    post: operations['createBillingCheckout'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/billing/portal/processor': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Open the card portal
     * @description For a person who signed in within the last 15 minutes; a key is 403. Before the first purchase by card there is nothing to change: 409 `state_conflict`.
     */
    post: operations['createBillingPortal'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/billing/refresh/processor': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Refresh the plan
     * @description Safe to repeat. Answers the summary as it is then.
     */
    post: operations['refreshBilling'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/billing/webhooks/processor': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Receive processor events
     * @description Signed over the raw body. An event says that something changed; what that is, is read from the processor. Each counts once, and those of a type or customer that is not known here change nothing.
     */
    post: operations['receiveProcessorWebhook'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/access/x402/facilitator/supported': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List what can be settled
     * @description The base URL of the facilitator ends before `/supported`. Give it to any x402 V2 resource server, with your key in `X-Svc-Key` of verify and settle.
     */
    get: operations['listFacilitatorKinds'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/access/x402/facilitator/verify': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Verify for your server
     * @description Reference body and answer, 200 also where it is refused. `payTo` must be your payout wallet: of the x402 rail, of your account, or of one of your live products. A payment whose success was answered before is refused as `duplicate_settlement`; one that was settled without anybody being told passes, so that its buyer can come back for what he paid.
     */
    post: operations['verifyFacilitatedPayment'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/access/x402/facilitator/settle': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Settle for your server
     * @description Reference body and answer, 200 also where it is refused. The payment itself is the idempotency key: it is settled once. Of calls at once one gets `success: true`, the others `duplicate_settlement` with the signature in `transaction`. A later call of the same account gets the first result again, so that a lost answer loses nothing: verify each request first, which refuses a payment that was answered before, and serve once for each `transaction`. Another account gets `duplicate_settlement`. `settlement_pending` means that no call has its success yet: ask again with the same payment. Nothing is granted and no payment is recorded: your server keeps the books. We pay the network's fee of 100 payments a day (free), 5000 payments a day (starter), 50000 payments a day (growth), 500000 payments a day (scale), and free accounts share a budget of the deployment. Once half of it went to payments that failed on chain, the rest of the day is for wallets that have paid you before. Buying a plan uses none of these. A payer may have 5 payments open, and 10 that failed on chain in 10 minutes, over all merchants. Beyond that it is 429 `rate_limited`, and `meta` has the `reason` (`fee_budget` or `payer_busy`), the limit and what is left.
     */
    post: operations['settleFacilitatedPayment'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/access/metered-sessions': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Begin a metered session
     * @description The buyer’s client opens a payment channel by the challenge, at `authorize_url`, within 60 minutes, and then streams vouchers: each promises more in all, none moves money by itself. What the highest one promises is settled on the chain, straight to your wallet. Counted apart from consume, settle and other metered calls, at the same rate: strangers who never pay take nothing of what buyers need.
     */
    post: operations['createMeteredSession'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/access/metered-sessions/{session_id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Get a metered session
     * @description As it is this moment: what is locked up, promised, kept free and settled.
     */
    get: operations['getMeteredSession'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/access/metered-sessions/{session_id}/close': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Close a metered session
     * @description With the highest voucher it has. No voucher is taken from then on. `closing` until the chain has it: ask again, or wait for `metered_session.closed`. A session that nobody opened is `closed` at once, with nothing settled. 409 `state_conflict` (`opening-pending`) while a buyer opens it.
     */
    post: operations['closeMeteredSession'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/access/metered-sessions/{session_id}/deliveries': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Reserve a delivery
     * @description Keeps an amount of the deposit free for one delivery, until its voucher comes or the time for it is over.
     */
    post: operations['reserveMeteredDelivery'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/access/metered-sessions/{session_id}/authorize': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Open, pay, top up or close
     * @description What the credential of scheme Payment asks for. Without a credential: 402 with the challenge in `WWW-Authenticate`. A credential that is refused: 402 with a fresh one and `meta.reason`. Of action `commit` the answer is the receipt of the delivery.
     */
    post: operations['authorizeMeteredSession'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/access/metered-sessions/{session_id}/commits': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Pay for a delivery
     * @description With a voucher, in the body or in the credential of scheme Payment. The same delivery with the same voucher again: 200 and `replayed`. A refusal has its reason in `meta.reason`.
     */
    post: operations['commitMeteredDelivery'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/access/native-subscriptions': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List native subscriptions
     * @description Native subscriptions as they are stored, newest first. With `product_id` and `status` together, `total` is exact up to 2,000.
     */
    get: operations['listNativeSubscriptions'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/access/native-subscriptions/{authorization_id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Get a native subscription
     * @description As it is stored. What was done on the chain without this service is read within seconds of the call, and once a day without one: call again, or wait for the event.
     */
    get: operations['getNativeSubscription'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/access/native-subscriptions/{authorization_id}/stop': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Stop a native subscription
     * @description End collecting, at once and for good; it needs a person who signed in within the last 15 minutes. What is paid for lasts. The buyer’s consent stays on the chain until the buyer cancels: the buyer is told how, where an address is known. Repeated, it changes nothing.
     */
    post: operations['stopNativeSubscription'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/access/native-subscriptions/{authorization_id}/cancel-intent': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Prepare a cancellation
     * @description What the buyer’s wallet signs to end the subscription. It changes nothing by itself: a buyer can cancel on the chain at any time, with us or without.
     */
    post: operations['prepareNativeCancellation'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/access/native-subscriptions/{authorization_id}/cancel-confirm': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Confirm a cancellation
     * @description By the signature of the transaction that cancelled, or the signed transaction itself, which we send. The account on the chain proves it: 422 `payment_mismatch` with `meta.reason` where it does not, retryable while the transaction may still land.
     */
    post: operations['confirmNativeCancellation'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/access/agent-bootstrap': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Begin a setup
     * @description Needs no credential. `setup_secret` and `sandbox_api_key` are shown once, here. The setup ends after 24 hours unless a plan is activated with its secret; a payment that is on its way by then is waited for. Follow `next_actions`.
     */
    post: operations['createSetupIntent'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/access/agent-bootstrap/{setup_intent_id}/status': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Get a setup
     * @description An unknown setup, a wrong secret and two that do not belong together are the same 404.
     */
    post: operations['getSetupIntent'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/access/agent-bootstrap/{setup_intent_id}/manifest': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Send a manifest
     * @description Replaces the manifest before it, until the setup is approved; from then on only one that asks for live mode where the one before did not, and meets its rules. Findings of severity `error` send it back (`changes_required`); without one it is `ready`. Its URLs are never fetched. An unknown setup, a wrong secret and two that do not belong together are the same 404.
     */
    post: operations['putSetupManifest'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/access/agent-bootstrap/{setup_intent_id}/approve': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Approve a setup
     * @description A live key needs a plan, and a manifest with `live_requested: true`. It is shown once. Asked for again while one is active it is 409 `state_conflict`; name that one in `replace_live_key_id` to revoke it and have another, or alone to only revoke it. Nothing of the manifest is applied by this: `next_actions` has the calls that do, each by itself. An unknown setup, a wrong secret and two that do not belong together are the same 404.
     */
    post: operations['approveSetupIntent'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/testing/scenarios': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List scenarios
     * @description What can be tried in the sandbox.
     */
    get: operations['listScenarios'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/testing/sessions': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List sandbox sessions
     * @description Recent sandbox sessions, newest first.
     */
    get: operations['listSandboxSessions'];
    put?: never;
    /**
     * Run a scenario
     * @description Answers at once; poll the session, or listen to your sandbox endpoints. Everything in it has `livemode: false`, and its customers have references that begin with its id. It is erased 30 days after its end.
     */
    post: operations['createSandboxSession'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/testing/sessions/{session_id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Get a sandbox session
     * @description One sandbox session.
     */
    get: operations['getSandboxSession'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/testing/sessions/{session_id}/advance': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Advance a clock
     * @description What falls due on the way happens in its order and at its time. At most 400 days; a session moves one way and once at a time, for 60 days after its beginning.
     */
    post: operations['advanceSandboxSession'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/testing/pay': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Pay as a test wallet
     * @description A payment is signed and broadcast on the simulated chain, and never confirmed by this: confirm it as your page would, or wait until it is found. A challenge of x402 is answered with what the agent sends as PAYMENT-SIGNATURE. `declined` answers no signature.
     */
    post: operations['payTest'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/testing/identity': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Identify a test buyer
     * @description Complete a buyer’s identity as the connector would.
     */
    post: operations['identifyTest'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/webhooks/event-types': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List event types
     * @description Every event that can be emitted, with its JSON Schema and an example.
     */
    get: operations['listEventTypes'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/webhooks/endpoints/{endpoint_id}/test': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Test an endpoint
     * @description Send the example of an event type now, signed and with `"test": true`, and say what came back. A disabled endpoint may be tested. A test changes nothing of the endpoint, whatever it answers, and is in no list of events.
     */
    post: operations['testWebhookEndpoint'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/.well-known/svc-receipt-keys.json': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Get receipt keys
     * @description Public keys that sign receipts, old ones too.
     */
    get: operations['getReceiptKeys'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/__402/session/deliveries': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Announce a delivery
     * @description As the public client of payment sessions does at the root of an origin. It keeps nothing free.
     */
    post: operations['announceMeteredDelivery'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/health': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Get health
     * @description Whether the service is well, and how what it depends on is. `/health` and `/v1/health` answer the same.
     */
    get: operations['getHealth'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/health': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Get health
     * @description Whether the service is well, and how what it depends on is. `/health` and `/v1/health` answer the same.
     */
    get: operations['getHealthV1'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
}
export type webhooks = Record<string, never>;
export interface components {
  schemas: {
    Payment: {
      /**
       * Format: uuid
       * @description The id of the payment. Who knows it may read its state.
       */
      payment_id: string;
      /**
       * @description How it came about.
       * @enum {string}
       */
      kind: 'checkout' | 'x402' | 'metered' | 'renewal' | 'recovered';
      /** @description The way of being paid; GET /v1/access/rails lists them. */
      rail_id: string;
      /**
       * Format: uuid
       * @description The id of the product.
       */
      product_id: string;
      /** @description The last part of the checkout page’s address: small letters, digits and hyphens. Made from the name where it is not given. */
      slug: string;
      /**
       * @description How it stands.
       * @enum {string}
       */
      status: 'PENDING_SIGNATURE' | 'PENDING_CONFIRMATION' | 'CONFIRMED' | 'FAILED';
      /**
       * @description Why the payment failed.
       * @enum {string}
       */
      failure_code?: 'session_expired' | 'underpaid' | 'transaction_failed' | 'replaced' | 'collection_failed';
      /** @description The same for a person to read. */
      failure_reason?: string;
      /** @description What this payment had to bring, fixed when the session began. */
      price: components['schemas']['Money'];
      /** @description The service’s share, which the buyer’s one transaction pays beside the merchant’s; absent where there is none. */
      fee?: components['schemas']['Money'];
      /** @description The service’s share that this transaction did not pay, because all of it went to the merchant. */
      fee_owed?: components['schemas']['Money'];
      /** @description What is left for the merchant after the fee. */
      net?: components['schemas']['Money'] & unknown;
      /** @description What came beyond the price. */
      overpaid?: components['schemas']['Money'];
      /** @description The wallet that paid. */
      payer_wallet?: string;
      /** @description The wallet that is paid. */
      recipient_wallet: string;
      /** @description The text that the transaction has to carry, so that it is known for this payment. */
      memo: string;
      /** @description Keys that the transaction has to name, read-only: by them it is found on the chain. */
      references: string[];
      /** @description The signature of the transaction, by which the chain knows it. */
      tx_signature?: string;
      /** @description The slot of the block. */
      slot?: number;
      /**
       * Format: date-time
       * @description When the block was made.
       */
      block_time?: string;
      /**
       * Format: date-time
       * @description When the chain showed that it was paid.
       */
      confirmed_at?: string;
      /**
       * Format: date-time
       * @description When the cluster could no longer drop it.
       */
      finalized_at?: string;
      /**
       * Format: date-time
       * @description The chain dropped the transaction after it was confirmed. Access was revoked, and is given back should it be there after all.
       */
      orphaned_at?: string;
      /**
       * Format: date-time
       * @description When it ends.
       */
      expires_at: string;
      /** @description Merchant view only. */
      customer_ref?: string;
      /**
       * Format: uuid
       * @description The id of the membership.
       */
      membership_id?: string;
      /**
       * Format: uuid
       * @description The id of the receipt.
       */
      receipt_id?: string;
      /**
       * Format: uuid
       * @description The session this money had missed.
       */
      recovers_payment_id?: string;
      /** @description The rate by which the price was converted, where the buyer pays in another asset. */
      price_quote?: components['schemas']['PriceQuote'];
      /** @description Who the buyer showed to be. Merchant view only. */
      buyer_identity?: {
        /**
         * @description Who it is done with.
         * @enum {string}
         */
        provider: 'telegram' | 'discord';
        /** @description The buyer’s id on that platform. */
        provider_user_id: string;
        /** @description The buyer’s name there. */
        username?: string;
      };
      /** @description Of the payment session, else of the hand-off. Merchant view only. */
      metadata?: {
        [key: string]: string;
      };
      /** @description Money that arrived and pays no session, the ten largest; every one is an event, and is accepted by its signature. Merchant view only. */
      unmatched?: components['schemas']['UnmatchedPayment'][];
      /** @description Money that arrived and does not pay this payment; for its buyer alone. */
      seen?: components['schemas']['SeenMoney'];
      /** @description What of it was paid back to the wallet that paid, as the chain showed it. */
      refunded?: components['schemas']['Refund'][];
      /**
       * Format: date-time
       * @description Of a confirmed payment: until when its buyer has access by now, later purchases included. Absent where it has no end. Buyer view only.
       */
      access_until?: string;
      /** @description Where access is given: the chat or guild, and the role. */
      delivery?: components['schemas']['BuyersDelivery'];
      /** @description Native subscription that a confirmed payment belongs to, as it stands now. Buyer view only. */
      renewal?: {
        /**
         * @description How it stands.
         * @enum {string}
         */
        status: 'pending' | 'active' | 'past_due' | 'requires_reapproval' | 'cancel_requested' | 'cancelled' | 'expired';
        /**
         * Format: date-time
         * @description Time of the next charge. Absent where nothing is charged any more.
         */
        next_charge_at?: string;
      };
      /** @description The native subscription that it is paid by. */
      authorization_id?: string;
      /** @description Of what renews itself: what its buyer signs. */
      subscription?: components['schemas']['Subscribing'];
      /** @description True of real money, false of the sandbox. */
      livemode: boolean;
      /**
       * Format: date-time
       * @description When it was made.
       */
      created_at: string;
      /**
       * Format: date-time
       * @description When it last changed.
       */
      updated_at: string;
      /** @description Counts the changes: the higher one is the newer one. */
      version: number;
      /** @description Ask again after so many milliseconds; null where the state is final. */
      poll_after_ms: number | null;
    };
    Money: {
      /**
       * @description `USDC` or `SOL`.
       * @enum {string}
       */
      asset: 'USDC' | 'SOL';
      /** @description A decimal as text, such as `12.5`. More decimals than the asset has are refused: USDC has 6, SOL has 9. */
      amount: string;
      /** @description The same amount in the smallest units of the asset, an integer as text. */
      base_units: string;
    };
    /** @description Where the price was converted into the asset that is paid. */
    PriceQuote: {
      /** @description USDC for one SOL; a USDC is taken for a dollar. */
      rate: string;
      /** @description Where the rate comes from. */
      source: string;
      /**
       * Format: date-time
       * @description When the source said the rate.
       */
      as_of: string;
      /**
       * Format: date-time
       * @description When it ends.
       */
      expires_at: string;
    };
    UnmatchedPayment: {
      /**
       * Format: uuid
       * @description The id of this arrival of money.
       */
      unmatched_id: string;
      /**
       * Format: uuid
       * @description The id of the payment. Who knows it may read its state.
       */
      payment_id: string;
      /** @description The signature of the transaction, by which the chain knows it. */
      tx_signature: string;
      /** @description What arrived. */
      amount: components['schemas']['Money'];
      /** @description The wallet that paid. */
      payer_wallet: string;
      /**
       * Format: date-time
       * @description When the block was made.
       */
      block_time: string;
      /**
       * @description Why it pays nothing: `late`, `underpaid`, `second_payment` or `identity_missing`.
       * @enum {string}
       */
      reason: 'late' | 'underpaid' | 'second_payment' | 'identity_missing';
      /**
       * @description How it stands.
       * @enum {string}
       */
      status: 'open' | 'accepted';
      /**
       * Format: uuid
       * @description The new payment that this money became when you accepted it.
       */
      recovered_payment_id?: string;
    };
    /** @description Money that arrived and does not pay this payment, the ten largest, while the merchant has not accepted it. Buyer view only. */
    SeenMoney: {
      /** @description A decimal as text, such as `12.5`. More decimals than the asset has are refused: USDC has 6, SOL has 9. */
      amount: components['schemas']['Money'];
      /** @description The signature of the transaction, by which the chain knows it. */
      tx_signature: string;
      /**
       * @description Why, for the books.
       * @enum {string}
       */
      reason: 'late' | 'underpaid' | 'second_payment' | 'identity_missing';
    }[];
    Refund: {
      /** @description What went back. */
      amount: components['schemas']['Money'];
      /** @description The signature of the transaction, by which the chain knows it. */
      tx_signature: string;
      /**
       * Format: date-time
       * @description When it happened.
       */
      at: string;
    };
    /** @description How its buyer gets in: shown with their own `X-Svc-Identity-Session` alone. */
    BuyersDelivery: {
      /**
       * @description How it stands.
       * @enum {string}
       */
      status: 'not_required' | 'pending' | 'delivered' | 'failed' | 'revoked';
      /** @description The buyer’s own invitation. */
      invite_url?: string;
      /** @description Why the last attempt failed, in the platform’s words; `not_a_member`: they were invited and have not come yet. */
      last_error?: string;
    };
    /** @description Of a checkout that begins a subscription, while it can be paid: what is left to sign. */
    Subscribing: {
      /** @description The native subscription: a buyer’s consent to be collected from, once a period. */
      authorization_id: string;
      /** @description The plan on the chain: price, period and destination, which no party can change. */
      plan_address: string;
      /** @description The subscription’s account on the chain, made of the plan and the wallet. */
      subscription_address: string;
      /** @description How long a period is. */
      period_hours: number;
      /** @description What is left to sign, in this order. Empty where nothing is: the first period is then collected. */
      steps: {
        /**
         * @description `approve`: lets the subscriptions program collect, once for all subscriptions of the wallet; asked of a wallet that is subscribed already, it shows that this checkout is its own. `subscribe`: the terms of this one. `resume`: takes a cancellation back. `revoke`: ends one that cannot go on.
         * @enum {string}
         */
        kind: 'approve' | 'subscribe' | 'resume' | 'revoke';
        /** @description Unsigned, base64. Sign it and send it to POST /v1/payments/{payment_id}/transaction. Absent while the step before it has not landed: GET /v1/payments/{payment_id} shows it then. */
        transaction?: string;
        /** @description Until this block the transaction can be sent; afterwards ask for a new one. */
        last_valid_block_height?: number;
      }[];
      /**
       * @description Why `steps` is empty although something is left. `refused`: the network would refuse the next step, most often because the wallet holds too little SOL. `plan_missing`: the plan takes no subscribers any more. `ending`: a cancelled subscription has to be over first. `subscribed`: the wallet is subscribed already, and its period is paid. `unavailable`: no node answers now.
       * @enum {string}
       */
      problem?: 'refused' | 'plan_missing' | 'ending' | 'subscribed' | 'unavailable';
      /** @description Page where the buyer sees and cancels the subscription there is, where `problem` is `subscribed`. */
      manage_url?: string;
    };
    Event: {
      /** @description Its id. */
      id: string;
      /**
       * @description Of which type it is.
       * @enum {string}
       */
      type:
        | 'payment.created'
        | 'payment.submitted'
        | 'payment.confirmed'
        | 'payment.finalized'
        | 'payment.failed'
        | 'payment.unmatched'
        | 'payment.orphaned'
        | 'payment.refunded'
        | 'receipt.created'
        | 'receipt.proof_sent'
        | 'membership.activated'
        | 'membership.renewed'
        | 'membership.grace_started'
        | 'membership.expired'
        | 'membership.access_revoked'
        | 'membership.cancelled'
        | 'delivery.succeeded'
        | 'delivery.failed'
        | 'subscription.authorized'
        | 'subscription.renewed'
        | 'subscription.past_due'
        | 'subscription.cancel_requested'
        | 'subscription.cancelled'
        | 'subscription.requires_reapproval'
        | 'entitlement.granted'
        | 'entitlement.exhausted'
        | 'entitlement.expired'
        | 'metered_session.opened'
        | 'metered_session.committed'
        | 'metered_session.closed'
        | 'support.ticket_created'
        | 'support.message_added'
        | 'support.ticket_updated'
        | 'support.ticket_closed'
        | 'payout.changed'
        | 'webhook.test'
        | 'webhook.endpoint_failing'
        | 'webhook.endpoint_disabled';
      /**
       * @description Of a test: an example that happened to nobody. It is in no list of events.
       * @enum {boolean}
       */
      test?: true;
      /**
       * Format: date-time
       * @description When it was made.
       */
      created_at: string;
      /** @description True of real money, false of the sandbox. */
      livemode: boolean;
      /** @description The version of the API whose shapes the event has. */
      api_version: string;
      /**
       * Format: uuid
       * @description The id of the account.
       */
      account_id: string;
      /** @description The object it happened to, and which version of it this is. */
      subject: {
        /** @description Of which type it is. */
        type: string;
        /** @description Its id. */
        id: string;
        /** @description Counts the changes: the higher one is the newer one. */
        version: number;
      };
      /** @description What it happened to. */
      data: {
        /** @description The object as its GET answers it. */
        object: {
          [key: string]: unknown;
        };
        /** @description What was before, where it is known. */
        previous?: {
          [key: string]: unknown;
        };
        /** @description Of `payment.refunded`: the refund that was seen. */
        refund?: {
          [key: string]: unknown;
        };
        /** @description Of `receipt.proof_sent`: to whom, and under which id. */
        proof?: {
          [key: string]: unknown;
        };
        /** @description Of a ticket: the message that was written. */
        message?: {
          [key: string]: unknown;
        };
      };
    };
    Receipt: {
      /**
       * Format: uuid
       * @description The id of the receipt.
       */
      receipt_id: string;
      /** @description The signature of the transaction, by which the chain knows it. */
      tx_sig: string;
      /** @description What is signed. Hash its RFC 8785 bytes to check it. */
      document: components['schemas']['ReceiptDocument'];
      /** @description SHA-256 of the document’s bytes, in hex. */
      sha256: string;
      /** @description Ed25519 over the bytes, base58. */
      signature: string;
      /** @description The key that signed, at `/.well-known/svc-receipt-keys.json`. */
      key_id: string;
      /** @description Where the service checks it. */
      verify_url: string;
      /** @description The proof as a page that anybody may open. */
      public_url: string;
      /** @description Place in its hash chain. An account has one in each mode for each `direction`: what it received, and what it paid for plans. Merchant view only. */
      link?: {
        /** @description The place of this receipt in its chain, from 1. */
        seq: number;
        /** @description Of the link before: the lower-case hex SHA-256 over the RFC 8785 bytes of `{"prev_hash": its prev_hash, "seq": its seq, "sha256": the sha256 of its receipt}`. The first link (`seq` 1) of a chain carries 64 zeros. */
        prev_hash: string;
      };
      /** @description What you wrote to the receipt for your books. */
      invoice_metadata?: components['schemas']['InvoiceMetadata'];
      /**
       * Format: date-time
       * @description When it was made.
       */
      created_at: string;
    };
    /** @description Signed as its RFC 8785 bytes. */
    ReceiptDocument: {
      /**
       * @description The form of the document.
       * @enum {string}
       */
      version: '1' | '2';
      /**
       * Format: uuid
       * @description The id of the receipt.
       */
      receipt_id: string;
      /** @description The signature of the transaction, by which the chain knows it. */
      tx_sig: string;
      /** @description The network in CAIP-2. */
      network: string;
      /** @description The slot of the block. */
      slot: number;
      /**
       * Format: date-time
       * @description When the block was made.
       */
      block_time: string;
      /** @description The wallet that paid. */
      payer: string;
      /** @description The wallet that is paid. */
      recipient: string;
      /** @description What was paid. */
      amount: components['schemas']['Money'];
      /** @description The service’s share, which the buyer’s one transaction pays beside the merchant’s; absent where there is none. */
      fee?: components['schemas']['Money'];
      /**
       * Format: uuid
       * @description The id of the product.
       */
      product_id: string;
      /** @description The product’s name when it was paid. */
      product_name: string;
      /** @description Who sells. */
      merchant: {
        /**
         * Format: uuid
         * @description The id of the account.
         */
        account_id: string;
        /** @description The name of the account, as buyers see it. */
        display_name: string;
      };
      /** @description The text that the transaction has to carry, so that it is known for this payment. */
      memo: string;
      /**
       * Format: date-time
       * @description When it was made.
       */
      issued_at: string;
      /** @description True of real money, false of the sandbox. */
      livemode: boolean;
      /** @description Where the price was of another asset than what was paid. Version 2. */
      price_quote?: {
        /** @description The price before it was converted. */
        price: components['schemas']['Money'];
        /** @description Units of the price’s asset for one of the asset paid in, a decimal as text. */
        rate: string;
        /** @description Where the rate comes from. */
        source: string;
        /**
         * Format: date-time
         * @description When the source said the rate.
         */
        as_of: string;
      };
      /** @description Who runs the service. Version 2. */
      operator?: {
        /** @description Who runs the service. */
        name: string;
        /** @description Where the operator is found. */
        url: string;
      };
    };
    /** @description What the merchant wrote to it. Merchant view only. */
    InvoiceMetadata: {
      /** @description Your number of the invoice. */
      invoice_number?: string;
      /** @description A text of yours, such as an order number. */
      reference?: string;
      /**
       * Format: date
       * @description The day of the invoice, as `2026-11-21`.
       */
      issued_on?: string;
      /**
       * Format: date
       * @description The day by which it is due.
       */
      due_on?: string;
      /** @description Anything else. */
      notes?: string;
      /** @description What was sold, line by line. */
      lines?: components['schemas']['InvoiceLine'][];
      /** @description Who sells, as the invoice has it. */
      seller?: {
        /** @description A name. */
        name?: string;
        /** @description A postal address. */
        address?: string;
        /** @description A number of the tax office. */
        tax_id?: string;
      };
      /** @description Who is billed. */
      bill_to?: {
        /** @description A name. */
        name?: string;
        /** @description A postal address. */
        address?: string;
        /** @description A number of the tax office. */
        tax_id?: string;
        /**
         * Format: email
         * @description An e-mail address.
         */
        email?: string;
      };
      /** @description The tax that is contained. */
      tax?: {
        /** @description A short name. */
        label?: string;
        /** @description The rate in per cent, a decimal as text. */
        rate_percent?: string;
        /** @description The tax itself, a decimal as text. */
        amount?: string;
      };
    };
    InvoiceLine: {
      /** @description A description. */
      description: string;
      /** @description How many, a decimal as text. */
      quantity: string;
      /** @description What the line comes to, a decimal as text. For people: nothing is computed from it. */
      amount: string;
    };
    Membership: {
      /**
       * Format: uuid
       * @description The id of the membership.
       */
      membership_id: string;
      /**
       * Format: uuid
       * @description The id of the product.
       */
      product_id: string;
      /** @description Whom it is about: a wallet, or your own name of the customer. Exactly one where it is asked for. */
      customer: {
        /** @description The address of a Solana wallet. */
        wallet_address?: string;
        /** @description Your own name of the customer: 1 to 180 characters, no control characters, no space at either end. Compared after Unicode NFC. */
        customer_ref?: string;
        /** @description An e-mail address. */
        email?: string;
      };
      /**
       * @description How it stands.
       * @enum {string}
       */
      status: 'pending' | 'active' | 'grace' | 'expired' | 'cancelled';
      /** @description Until when it is paid; null: without an end. */
      paid_through: string | null;
      /**
       * Format: date-time
       * @description Until when delivered access goes on although the paid time is over.
       */
      grace_until?: string;
      /** @description When delivered access ends: paid time and its grace; null: never. */
      expires_at: string | null;
      /** @description The native subscription that pays for it. */
      authorization_id?: string;
      /**
       * @description Where the native subscription stands that pays for it.
       * @enum {string}
       */
      subscription_status?: 'pending' | 'active' | 'past_due' | 'requires_reapproval' | 'cancel_requested' | 'cancelled' | 'expired';
      /** @description True: it ends with the time that is paid. */
      cancel_at_period_end: boolean;
      /**
       * Format: date-time
       * @description When it was cancelled.
       */
      cancelled_at?: string;
      /** @description How giving access stands. */
      delivery: components['schemas']['MembershipDelivery'];
      /**
       * Format: uuid
       * @description The payment that extended it last.
       */
      last_payment_id: string;
      /** @description True of real money, false of the sandbox. */
      livemode: boolean;
      /**
       * Format: date-time
       * @description When it was made.
       */
      created_at: string;
      /**
       * Format: date-time
       * @description When it last changed.
       */
      updated_at: string;
      /** @description Counts the changes: the higher one is the newer one. */
      version: number;
    };
    /** @description Access to a chat or guild. It never touches the payment. */
    MembershipDelivery: {
      /**
       * @description How it stands.
       * @enum {string}
       */
      status: 'not_required' | 'pending' | 'delivered' | 'failed' | 'revoked';
      /**
       * @description Who it is done with.
       * @enum {string}
       */
      provider?: 'telegram' | 'discord';
      /** @description How often it was tried. */
      attempts: number;
      /** @description Whether the buyer has to say who they are, and where. */
      identity?: {
        /** @description The buyer’s id on that platform. */
        provider_user_id: string;
        /** @description The buyer’s name there. */
        username?: string;
      };
      /** @description The member’s own invitation. It is in no event. */
      invite_url?: string;
      /** @description Why the last attempt failed, in the platform’s words; `not_a_member`: they were invited and have not come yet. */
      last_error?: string;
      /**
       * Format: date-time
       * @description When they were let in.
       */
      delivered_at?: string;
    };
    /** @description A buyer’s consent on the chain to be collected from, once a period. */
    NativeSubscription: {
      /** @description The native subscription: a buyer’s consent to be collected from, once a period. */
      authorization_id: string;
      /**
       * Format: uuid
       * @description The id of the product.
       */
      product_id: string;
      /** @description The wallet that gave its consent and is collected from. */
      subscriber_wallet: string;
      /** @description The plan on the chain: price, period and destination, which no party can change. */
      plan_address: string;
      /** @description The subscription’s account on the chain, made of the plan and the wallet. */
      subscription_address: string;
      /**
       * @description How it stands.
       * @enum {string}
       */
      status: 'pending' | 'active' | 'past_due' | 'requires_reapproval' | 'cancel_requested' | 'cancelled' | 'expired';
      /** @description A decimal as text, such as `12.5`. More decimals than the asset has are refused: USDC has 6, SOL has 9. */
      amount: components['schemas']['Money'] & unknown;
      /** @description How long a period is. */
      period_hours: number;
      /**
       * Format: date-time
       * @description Of the period that was collected last, by the chain.
       */
      current_period_start?: string;
      /**
       * Format: date-time
       * @description When that period ends, by the chain.
       */
      current_period_end?: string;
      /** @description Until when it is paid; null: without an end. */
      paid_through: string | null;
      /** @description The last attempt to collect a period. */
      last_collection?: {
        /**
         * Format: date-time
         * @description When it happened.
         */
        at: string;
        /**
         * @description How it stands.
         * @enum {string}
         */
        status: 'collected' | 'failed';
        /**
         * @description What it is, for a program: branch on this.
         * @enum {string}
         */
        code?:
          | 'subscription_cancelled'
          | 'subscription_requires_reapproval'
          | 'insufficient_funds'
          | 'account_frozen'
          | 'account_missing'
          | 'receiver_missing'
          | 'puller_removed';
        /** @description The signature of the transaction, by which the chain knows it. */
        tx_signature?: string;
      };
      /** @description When the buyer’s cancellation was seen on the chain, and from when on nothing can be collected. */
      cancel?: {
        /**
         * Format: date-time
         * @description When the cancellation was seen on the chain.
         */
        requested_at: string;
        /**
         * Format: date-time
         * @description From when on nothing can be collected.
         */
        effective_at: string;
      };
      /**
       * Format: date-time
       * @description Time at which the merchant ended collecting.
       */
      stopped_at?: string;
      /** @description True of real money, false of the sandbox. */
      livemode: boolean;
      /** @description Counts the changes: the higher one is the newer one. */
      version: number;
    };
    Entitlement: {
      /**
       * Format: uuid
       * @description The id of the entitlement: always the same for this customer and product.
       */
      entitlement_id: string;
      /**
       * Format: uuid
       * @description The id of the product.
       */
      product_id: string;
      /** @description Whom it is about: a wallet, or your own name of the customer. Exactly one where it is asked for. */
      customer: components['schemas']['Customer'];
      /**
       * @description How it stands.
       * @enum {string}
       */
      status: 'active' | 'exhausted' | 'expired' | 'revoked';
      /** @description null while use is not counted. */
      granted_units: number | null;
      /** @description How many units were used. */
      used_units: number;
      /** @description How many units are left; null: without a limit. */
      remaining: number | null;
      /** @description Until when it is paid; null: without an end. */
      paid_through: string | null;
      /** @description True if neither a number of units nor a time ends the access. */
      unlimited: boolean;
      /** @description True of real money, false of the sandbox. */
      livemode: boolean;
      /** @description Counts the changes: the higher one is the newer one. */
      version: number;
      /**
       * Format: date-time
       * @description When it last changed.
       */
      updated_at: string;
    };
    Customer: {
      /** @description The address of a Solana wallet. */
      wallet_address?: string;
      /** @description Your own name of the customer: 1 to 180 characters, no control characters, no space at either end. Compared after Unicode NFC. */
      customer_ref?: string;
    };
    MeteredSession: {
      /** @description The id of the session. */
      session_id: string;
      /**
       * @description How it stands.
       * @enum {string}
       */
      status: 'created' | 'open' | 'closing' | 'closed' | 'expired' | 'failed';
      /**
       * Format: uuid
       * @description The id of the product.
       */
      product_id: string;
      /** @description Whom it is about: a wallet, or your own name of the customer. Exactly one where it is asked for. */
      customer?: {
        /** @description The address of a Solana wallet. */
        wallet_address?: string;
        /** @description Your own name of the customer: 1 to 180 characters, no control characters, no space at either end. Compared after Unicode NFC. */
        customer_ref?: string;
      };
      /** @description Address of the payment channel, once there is one. */
      channel_id?: string;
      /** @description Address of the payment-channels program that the channel belongs to. */
      channel_program: string;
      /** @description Where a buyer’s client opens the session, and where it may do all that follows. */
      authorize_url: string;
      /** @description Where your server keeps an amount free before it delivers. */
      deliveries_url: string;
      /** @description Where the buyer’s client pays for a delivery with a voucher. */
      commits_url: string;
      /** @description In the answer that creates the session: the value of `WWW-Authenticate` and what it asks for. */
      challenge?: {
        /** @description The value of `WWW-Authenticate` that asks for the opening of the channel. */
        header: string;
        /** @description What that header asks for, decoded. */
        request: {
          [key: string]: unknown;
        };
      };
      /** @description The most that a buyer may lock up in the channel. */
      cap: components['schemas']['Money'];
      /** @description What the buyer locked up, as the chain says. */
      deposit: components['schemas']['Money'] & unknown;
      /** @description The highest amount that vouchers promise. */
      cumulative: components['schemas']['Money'] & unknown;
      /** @description Kept free by deliveries that are not paid yet. */
      reserved: components['schemas']['Money'] & unknown;
      /** @description Of the promised amount, what the chain has accepted. */
      settled: components['schemas']['Money'] & unknown;
      /** @description What one unit costs, for deliveries that are counted in units. */
      unit_price?: components['schemas']['Money'];
      /** @description The least by which a voucher goes beyond the one before. */
      min_voucher_delta: components['schemas']['Money'];
      /** @description After so many seconds without use the session is closed, unless something is reserved. */
      idle_timeout_seconds: number;
      /** @description The least time the channel gives us to settle, after its payer asks to close it. */
      grace_period_seconds: number;
      /** @description The wallet that paid. */
      payer?: string;
      /** @description The key whose vouchers the channel accepts. */
      authorized_signer?: string;
      /**
       * Format: date-time
       * @description Until when it can be opened.
       */
      expires_at: string;
      /** @description True of real money, false of the sandbox. */
      livemode: boolean;
      /**
       * Format: date-time
       * @description When it was made.
       */
      created_at: string;
      /**
       * Format: date-time
       * @description When it last changed.
       */
      updated_at: string;
      /** @description Counts the changes: the higher one is the newer one. */
      version: number;
    };
    SupportTicket: {
      /**
       * Format: uuid
       * @description The id of the ticket.
       */
      ticket_id: string;
      /** @description What it is about. */
      subject: string;
      /**
       * @description What it is about.
       * @enum {string}
       */
      category: 'payment' | 'delivery' | 'webhook' | 'billing' | 'other';
      /**
       * @description How it stands.
       * @enum {string}
       */
      status: 'open' | 'pending' | 'resolved' | 'closed';
      /**
       * Format: uuid
       * @description The id of the payment. Who knows it may read its state.
       */
      payment_id?: string;
      /**
       * Format: uuid
       * @description The id of the membership.
       */
      membership_id?: string;
      /**
       * Format: date-time
       * @description When it was made.
       */
      created_at: string;
      /**
       * Format: date-time
       * @description When it last changed.
       */
      updated_at: string;
      /**
       * Format: date-time
       * @description When somebody last wrote.
       */
      last_message_at: string;
      /** @description True of real money, false of the sandbox. */
      livemode: boolean;
    };
    SupportMessage: {
      /**
       * Format: uuid
       * @description The id of the message.
       */
      message_id: string;
      /**
       * @description Who wrote it.
       * @enum {string}
       */
      author: 'merchant' | 'staff' | 'system';
      /** @description What was written. */
      body: string;
      /**
       * Format: date-time
       * @description When it was made.
       */
      created_at: string;
    };
    PayoutChange: {
      /** @description The wallet that is paid from now on; null: what it falls back to. */
      payout_wallet: string | null;
      /** @description What was before, where it is known. */
      previous?: string | null;
      /**
       * Format: uuid
       * @description The id of the product.
       */
      product_id?: string;
      /** @description The way of being paid; GET /v1/access/rails lists them. */
      rail_id?: string;
      /**
       * @description Who changed it.
       * @enum {string}
       */
      by: 'key' | 'person';
    };
    WebhookEndpoint: {
      /**
       * Format: uuid
       * @description The id of the endpoint.
       */
      endpoint_id: string;
      /**
       * @description Of which kind it is.
       * @enum {string}
       */
      kind: 'webhook' | 'automation';
      /** @description Where events are sent. */
      url: string;
      /** @description A description. */
      description?: string;
      /** @description Which events are sent: `payment.confirmed`, a group as `payment.*`, or `*`. GET /v1/webhooks/event-types lists them. */
      event_types: string[];
      /** @description Of which products; empty: of all. */
      product_ids: string[];
      /**
       * @description How it stands.
       * @enum {string}
       */
      status: 'enabled' | 'disabled';
      /** @description Why it is disabled. */
      disabled_reason?: string;
      /**
       * @description What `X-Svc-Signature` covers: `timestamp.body`, or the raw `body` alone.
       * @enum {string}
       */
      signed_payload: 'timestamp.body' | 'body';
      /** @description The end of the secret, to recognise it by. */
      secret_hint: string;
      /**
       * Format: date-time
       * @description When an attempt last succeeded.
       */
      last_success_at?: string;
      /**
       * Format: date-time
       * @description When an attempt last failed.
       */
      last_failure_at?: string;
      /** @description Attempts that failed since the last that succeeded. */
      failure_streak: number;
      /**
       * Format: date-time
       * @description Since when every delivery fails.
       */
      failing_since?: string;
      /**
       * Format: date-time
       * @description When the endpoint is given up, unless a delivery succeeds before.
       */
      disables_at?: string;
      /** @description True of real money, false of the sandbox. */
      livemode: boolean;
      /** @description Key or person that created the endpoint. */
      created_by: components['schemas']['Maker'];
      /** @description Key or person that last changed its URL or secret. */
      changed_by?: components['schemas']['Maker'];
      /**
       * Format: date-time
       * @description When it was made.
       */
      created_at: string;
      /**
       * Format: date-time
       * @description When it last changed.
       */
      updated_at: string;
    };
    Maker: {
      /**
       * @description Of which kind it is.
       * @enum {string}
       */
      kind: 'key' | 'person';
      /**
       * Format: uuid
       * @description Its id.
       */
      id: string;
    };
    AuthResponse: {
      /** @description The session token, for `Authorization: Bearer`. */
      token: string;
      /**
       * Format: uuid
       * @description The id of the account.
       */
      user_id: string;
      /**
       * @description The plan: `free`, `starter`, `growth` or `scale`.
       * @enum {string}
       */
      tier: 'free' | 'starter' | 'growth' | 'scale';
      /** @description An e-mail address. */
      email: string | null;
      /** @description What the token says of the account. */
      claims: components['schemas']['Claims'];
      /**
       * Format: date-time
       * @description When it ends.
       */
      expires_at: string;
    };
    Claims: {
      /** @description A score of the account, for tools that ask for one. */
      svc_score: boolean;
      /** @description Whether the account may be paid. */
      svc_pay: boolean;
      /** @description Whether the account may use operating tools. */
      svc_ops: boolean;
      /** @description Whether this is a person who runs the deployment. */
      is_staff: boolean;
    };
    Error: {
      /** @description What happened, for a person. Never branch on it. */
      detail: string;
      /**
       * @description What went wrong, for a program: branch on this.
       * @enum {string}
       */
      code:
        | 'idempotency_key_required'
        | 'idempotency_key_too_long'
        | 'idempotency_key_invalid'
        | 'invalid_rpc_payload'
        | 'invalid_state'
        | 'invalid_product_type'
        | 'invalid_authorization'
        | 'invalid_credentials'
        | 'connector_secret_invalid'
        | 'webhook_signature_failed'
        | 'payment_required'
        | 'handoff_secret_mismatch'
        | 'account_suspended'
        | 'account_deleted'
        | 'admin_requires_staff'
        | 'entitlement_missing'
        | 'subscription_expired'
        | 'spend_limit_exceeded'
        | 'not_found'
        | 'method_not_allowed'
        | 'email_registered'
        | 'payment_transaction_conflict'
        | 'payment_failed'
        | 'ticket_closed'
        | 'idempotency_in_progress'
        | 'idempotency_conflict'
        | 'idempotency_race'
        | 'setup_not_ready'
        | 'duplicate_settlement'
        | 'subscription_cancelled'
        | 'subscription_requires_reapproval'
        | 'state_conflict'
        | 'session_expired'
        | 'handoff_expired'
        | 'channel_closed'
        | 'identity_expired'
        | 'payload_too_large'
        | 'unsupported_media_type'
        | 'validation_error'
        | 'unknown_field'
        | 'no_change'
        | 'password_too_short'
        | 'invalid_permissions'
        | 'identity_verification_required'
        | 'invalid_wallet_address'
        | 'payment_mismatch'
        | 'rate_limited'
        | 'plan_limit_reached'
        | 'internal_error'
        | 'misconfigured'
        | 'billing_not_configured'
        | 'oauth_not_configured'
        | 'fee_wallet_missing'
        | 'mail_not_configured'
        | 'handoff_not_configured'
        | 'price_unavailable'
        | 'rpc_unavailable'
        | 'temporarily_unavailable';
      /** @description The id of the request, by which the operator finds it in the log. */
      request_id: string;
      /** @description A page that explains it. */
      docs_url: string;
      /** @description Whether the same request, sent again, may succeed. */
      retryable: boolean;
      /** @description More about it, for a program. What is in it depends on the code. */
      meta: {
        [key: string]: unknown;
      };
    };
    HTTPValidationError: {
      /** @description What happened, for a person. Never branch on it. */
      detail: {
        /** @description Where: `body`, `query`, `path` or `header`, then the field. */
        loc: (string | number)[];
        /** @description What is wrong there. */
        msg: string;
        /** @description Of which type it is. */
        type: string;
        /** @description Of an `unknown_field`: the known field whose name is nearest, if one is near. */
        ctx?: {
          /** @description The known name that is nearest. */
          nearest?: string;
        };
      }[];
      /**
       * @description What it is, for a program: branch on this.
       * @enum {string}
       */
      code:
        | 'idempotency_key_required'
        | 'idempotency_key_too_long'
        | 'idempotency_key_invalid'
        | 'invalid_rpc_payload'
        | 'invalid_state'
        | 'invalid_product_type'
        | 'invalid_authorization'
        | 'invalid_credentials'
        | 'connector_secret_invalid'
        | 'webhook_signature_failed'
        | 'payment_required'
        | 'handoff_secret_mismatch'
        | 'account_suspended'
        | 'account_deleted'
        | 'admin_requires_staff'
        | 'entitlement_missing'
        | 'subscription_expired'
        | 'spend_limit_exceeded'
        | 'not_found'
        | 'method_not_allowed'
        | 'email_registered'
        | 'payment_transaction_conflict'
        | 'payment_failed'
        | 'ticket_closed'
        | 'idempotency_in_progress'
        | 'idempotency_conflict'
        | 'idempotency_race'
        | 'setup_not_ready'
        | 'duplicate_settlement'
        | 'subscription_cancelled'
        | 'subscription_requires_reapproval'
        | 'state_conflict'
        | 'session_expired'
        | 'handoff_expired'
        | 'channel_closed'
        | 'identity_expired'
        | 'payload_too_large'
        | 'unsupported_media_type'
        | 'validation_error'
        | 'unknown_field'
        | 'no_change'
        | 'password_too_short'
        | 'invalid_permissions'
        | 'identity_verification_required'
        | 'invalid_wallet_address'
        | 'payment_mismatch'
        | 'rate_limited'
        | 'plan_limit_reached'
        | 'internal_error'
        | 'misconfigured'
        | 'billing_not_configured'
        | 'oauth_not_configured'
        | 'fee_wallet_missing'
        | 'mail_not_configured'
        | 'handoff_not_configured'
        | 'price_unavailable'
        | 'rpc_unavailable'
        | 'temporarily_unavailable';
      /** @description The id of the request, by which the operator finds it in the log. */
      request_id: string;
      /** @description A page that explains it. */
      docs_url: string;
      /** @description Whether the same request, sent again, may succeed. */
      retryable: boolean;
      /** @description More about it, for a program. What is in it depends on the code. */
      meta: {
        [key: string]: unknown;
      };
    };
    RegisterRequest: {
      /**
       * Format: email
       * @description An e-mail address.
       */
      email: string;
      /** @description 8 to 128 characters. */
      password: string;
      /** @description The name of the account, as buyers see it. */
      display_name: string;
    };
    LoginRequest: {
      /**
       * Format: email
       * @description An e-mail address.
       */
      email: string;
      /** @description 8 to 128 characters. */
      password: string;
    };
    WalletNonce: {
      /** @description The part that makes the text good once. */
      message_nonce: string;
      /** @description What it says. */
      message: string;
      /**
       * Format: date-time
       * @description When it was made.
       */
      issued_at: string;
      /**
       * Format: date-time
       * @description When it ends.
       */
      expires_at: string;
    };
    WalletNonceRequest: {
      /** @description base58 */
      wallet_address: string;
    };
    WalletLoginRequest: {
      /** @description base58 */
      wallet_address: string;
      /** @description base58 Ed25519 signature of `message`, or of the bare `message_nonce`. The bare nonce names no domain: a session from it makes keys, but never sets a payout wallet, moves an external product id, sets a password or deletes the account. */
      signed_message: string;
      /** @description The part that makes the text good once. */
      message_nonce: string;
    };
    RefreshRequest: {
      /** @description The token to renew, where it is not in the header. */
      token?: string;
    };
    DetailResponse: {
      /** @description What happened, for a person. Never branch on it. */
      detail: string;
    };
    VerifyEmailRequest: {
      /** @description From the e-mail: what follows `#token=` in its link. */
      token: string;
    };
    VerificationPreview: {
      /** @description The wallet that will sign, as Solana Pay sends it. */
      account: string;
      /**
       * Format: date-time
       * @description When it was made.
       */
      created_at: string;
      /** @description An e-mail address. */
      email: string;
    };
    PreviewVerificationRequest: {
      /** @description From the e-mail: what follows `#token=` in its link. */
      token: string;
    };
    DisownEmailRequest: {
      /** @description From the e-mail: what follows `#token=` in its link. */
      token: string;
    };
    ForgotPasswordRequest: {
      /**
       * Format: email
       * @description An e-mail address.
       */
      email: string;
    };
    ResetPasswordRequest: {
      /** @description From the e-mail: what follows `#token=` in its link. */
      token: string;
      /** @description The new one: 8 to 128 characters. */
      new_password: string;
    };
    OAuthProviders: {
      /** @description Who signs people in. */
      providers: {
        /**
         * @description Who it is done with.
         * @enum {string}
         */
        provider: 'google' | 'github';
        /** @description Whether it works on this deployment. */
        configured: boolean;
        /** @description Where the provider sends the person back to; register it there. */
        callback_url: string;
        /** @description The variables that are not set. */
        missing: string[];
      }[];
    };
    OAuthStart: {
      /**
       * @description Who it is done with.
       * @enum {string}
       */
      provider: 'google' | 'github';
      /** @description Where the provider sends the person back to; register it there. */
      callback_url: string;
      /** @description Where to send the person. */
      authorization_url: string;
    };
    SignInIdentities: {
      /** @description The entries of this page. */
      items: {
        /**
         * @description Who it is done with.
         * @enum {string}
         */
        provider: 'google' | 'github';
        /** @description An e-mail address. */
        email?: string;
        /**
         * Format: date-time
         * @description When it was linked.
         */
        linked_at: string;
      }[];
    };
    Account: {
      /**
       * Format: uuid
       * @description The id of the account.
       */
      user_id: string;
      /** @description An e-mail address. */
      email: string | null;
      /** @description The address of a Solana wallet. */
      wallet_address: string | null;
      /** @description The name of the account, as buyers see it. */
      display_name: string;
      /**
       * @description The plan: `free`, `starter`, `growth` or `scale`.
       * @enum {string}
       */
      tier: 'free' | 'starter' | 'growth' | 'scale';
      /**
       * @description How it stands.
       * @enum {string}
       */
      status: 'active' | 'suspended' | 'deleted';
      /** @description Whether the address is proven. */
      email_verified: boolean;
      /**
       * @description E-mails to the address came back, or one was reported as spam: none goes there until it is proven once more.
       * @enum {string}
       */
      email_problem?: 'bounced' | 'complained';
      /** @description An IANA time zone, such as `Europe/Berlin`: days of figures are its days. */
      timezone: string;
      /**
       * @description What language e-mails to you are in.
       * @enum {string}
       */
      locale: 'en' | 'es' | 'de' | 'fr' | 'pt-BR' | 'ja';
      /**
       * Format: date-time
       * @description When it was made.
       */
      created_at: string;
      /** @description The key that calls. */
      key_id: string | null;
      /** @description What the sandbox of the account holds. */
      sandbox: boolean;
      /** @description Which e-mails are sent. */
      notification_prefs: components['schemas']['NotificationPrefs'];
      /** @description How your checkout pages look. */
      merchant_settings: components['schemas']['MerchantSettings'];
      /** @description What the token says of the account. */
      claims: components['schemas']['Claims'];
      /** @description Whether it signs in with a password. */
      has_password: boolean;
      /** @description The other ways the account signs in. */
      auth_providers: string[];
      /** @description What ended when the account was taken over by the reader of its address. */
      claimed?: components['schemas']['ClaimedAccount'];
    };
    /** @description Which e-mails you get; all of them at first. */
    NotificationPrefs: {
      /** @description When an endpoint fails or is disabled. */
      webhooks: boolean;
      /** @description When money pays nothing, or was paid back. */
      payouts: boolean;
      /** @description Before a plan ends. */
      renewals: boolean;
      /** @description Receipts to buyers who gave an address. */
      buyer_receipts: boolean;
      /** @description About what is new here. */
      product_news: boolean;
    };
    MerchantSettings: {
      /** @description Empty where it is not set. */
      checkout_brand_name: string;
      /** @description Empty where it is not set. */
      checkout_logo_url: string;
      /** @description Empty where it is not set. */
      checkout_hero_image_url: string;
      /** @description Empty where it is not set. */
      checkout_success_button_label: string;
      /** @description Empty where it is not set. */
      checkout_accent_hex: string;
      /** @description Empty where it is not set. */
      default_redirect_url: string;
      /** @description Empty where it is not set. */
      default_support_url: string;
    };
    /** @description There once the reader of the address has taken the account over from whoever made it: when, and how many of each ended with that. */
    ClaimedAccount: {
      /**
       * Format: date-time
       * @description When that was.
       */
      at: string;
      /** @description Keys that ended. */
      keys: number;
      /** @description Endpoints that were disabled. */
      endpoints: number;
      /** @description Providers that sign in no more. */
      providers: number;
      /** @description Payout wallets that were forgotten. */
      wallets: number;
    };
    UpdateResponse: {
      /** @description What happened, for a person. Never branch on it. */
      detail: string;
      /** @description The fields that changed. */
      updated_fields: string[];
    };
    UpdateAccountRequest: {
      /** @description The name of the account, as buyers see it. */
      display_name?: string;
      /** @description An IANA time zone, such as `Europe/Berlin`: days of figures are its days. */
      timezone?: string;
      /**
       * @description The language of e-mails, such as `en`.
       * @enum {string}
       */
      locale?: 'en' | 'es' | 'de' | 'fr' | 'pt-BR' | 'ja';
      /** @description Which e-mails are sent. */
      notification_prefs?: {
        /** @description When an endpoint fails or is disabled. */
        webhooks?: boolean;
        /** @description When money pays nothing, or was paid back. */
        payouts?: boolean;
        /** @description Before a plan ends. */
        renewals?: boolean;
        /** @description Receipts to buyers who gave an address. */
        buyer_receipts?: boolean;
        /** @description About what is new here. */
        product_news?: boolean;
      };
      /** @description How your checkout pages look. */
      merchant_settings?: components['schemas']['MerchantSettingsPatch'];
    };
    MerchantSettingsPatch: {
      /** @description The name shown on the page beside the account’s. */
      checkout_brand_name?: '' | string;
      /** @description An https address of a PNG or JPEG of at most 200 KB. */
      checkout_logo_url?: '' | string;
      /** @description An https address of a wide picture. */
      checkout_hero_image_url?: '' | string;
      /** @description What the button back to the shop says. */
      checkout_success_button_label?: '' | string;
      /** @description The colour of buttons, as `#1a2b3c`; it is kept readable. */
      checkout_accent_hex?: '' | string;
      /** @description Where buyers go after paying, where the product names nothing. */
      default_redirect_url?: '' | string;
      /** @description Where you help your buyers. */
      default_support_url?: '' | string;
    };
    ChangeSecurityRequest: {
      /**
       * Format: email
       * @description An e-mail address.
       */
      email?: string;
      /** @description The password of now; it proves who is asking. */
      current_password?: string;
      /** @description The new one: 8 to 128 characters. */
      new_password?: string;
    };
    SellerDomain: {
      /** @description A host of yours in lower case, such as `shop.example.com`: without `https://`, a port or a path. */
      domain: string;
      /**
       * @description Shown to buyers while `verified`. `failed`: its file holds the token no more.
       * @enum {string}
       */
      status: 'pending' | 'verified' | 'failed';
      /**
       * Format: date-time
       * @description When this was looked at.
       */
      checked_at?: string;
      /** @description What `/.well-known/svc-merchant.json` there has to hold, as `{account_id, token}`. */
      token: string;
    };
    SetDomainRequest: {
      /** @description A host of yours in lower case, such as `shop.example.com`: without `https://`, a port or a path. */
      domain: string;
    };
    DeliveryReadiness: {
      /** @description What is there for Telegram. */
      telegram: components['schemas']['PlatformReadiness'];
      /** @description What is there for Discord. */
      discord: components['schemas']['PlatformReadiness'];
    };
    PlatformReadiness: {
      /** @description Whether it works on this deployment. */
      configured: boolean;
      /** @description The variables that are not set. */
      missing: string[];
      /** @description The name of the bot there. */
      bot_username?: string;
      /** @description What the last look at the platform showed. */
      ok: boolean;
      /**
       * Format: date-time
       * @description When the platform was looked at last.
       */
      last_test_at?: string;
    };
    DeliveryTest: {
      /**
       * @description Who it is done with.
       * @enum {string}
       */
      provider: 'telegram' | 'discord';
      /** @description Whether the platform knows the bot. */
      ok: boolean;
      /** @description What happened, for a person. Never branch on it. */
      detail: string;
      /** @description How long it took to answer. */
      latency_ms: number;
    };
    DeliveryTestRequest: {
      /**
       * @description Who it is done with.
       * @enum {string}
       */
      provider: 'telegram' | 'discord';
    };
    BegunClaim: {
      /** @description What it is, for a program: branch on this. */
      code: string;
      /**
       * Format: date-time
       * @description When it ends.
       */
      expires_at: string;
    };
    BeginClaimRequest: {
      /**
       * @description Who it is done with.
       * @enum {string}
       */
      provider: 'telegram' | 'discord';
    };
    CommunityClaims: {
      /** @description The entries of this page. */
      items: components['schemas']['CommunityClaim'][];
    };
    /** @description A chat or guild that belongs to the account. */
    CommunityClaim: {
      /**
       * Format: uuid
       * @description The id of the claim.
       */
      claim_id: string;
      /**
       * @description Who it is done with.
       * @enum {string}
       */
      provider: 'telegram' | 'discord';
      /** @description The number of the chat at Telegram, as text. */
      chat_id?: string;
      /** @description The number of the guild at Discord, as text. */
      guild_id?: string;
      /**
       * Format: date-time
       * @description When its administrator posted the code.
       */
      claimed_at: string;
    };
    ConnectorClaim: {
      /** @description What it is, for a program: branch on this. */
      code: string;
      /** @description The number of the chat at Telegram, as text. */
      chat_id?: string;
      /** @description The number of the guild at Discord, as text. */
      guild_id?: string;
    };
    AccountSummary: {
      /** @description How many products are on sale. */
      active_templates: number;
      /** @description How many memberships are active. */
      paying_members: number;
      /** @description Memberships that end soon. */
      renewals_due: {
        /** @description How many. */
        count: number;
        /**
         * @description How many days it looks ahead.
         * @enum {number}
         */
        window_days: 7;
      };
      /** @description Tickets that are open or pending. */
      open_support_threads: number;
      /** @description How many receipts were made. */
      receipts_issued: number;
      /** @description How many payments were confirmed. */
      confirmed_payments: number;
      /** @description Sums over all of it, each asset by itself. */
      totals: {
        /** @description What was paid in USDC. */
        USDC: components['schemas']['Sums'];
        /** @description What was paid in SOL. */
        SOL: components['schemas']['Sums'];
      };
      /**
       * Format: date-time
       * @description The moment these figures are true of.
       */
      as_of: string;
    };
    /** @description Decimals of one asset. `gross` is price and overpaid of confirmed payments, orphaned ones not; `fee` what the service was paid of it; `net` is gross less fee less refunded. */
    Sums: {
      /** @description Price and overpaid of confirmed payments, a decimal as text. */
      gross: string;
      /** @description `gross` less `fee` and `refunded`. */
      net: string;
      /** @description What the service was paid of it. */
      fee: string;
      /** @description What was paid back. */
      refunded: string;
    };
    Analytics: {
      /** @description The days these figures are of. */
      window: {
        /**
         * Format: date
         * @description The first day.
         */
        start: string;
        /**
         * Format: date
         * @description The last day.
         */
        end: string;
        /** @description How many days. */
        days: number;
        /** @description An IANA time zone, such as `Europe/Berlin`: days of figures are its days. */
        timezone: string;
      };
      /** @description Sums over all of it, each asset by itself. */
      totals: {
        /** @description What was paid in USDC. */
        USDC: components['schemas']['AssetTotals'];
        /** @description What was paid in SOL. */
        SOL: components['schemas']['AssetTotals'];
      };
      /** @description Checkouts that began in the window, by the state they are in now. */
      funnel: {
        /** @description How many checkouts began. */
        sessions: number;
        /** @description How many are under way. */
        pending: number;
        /** @description How many were paid. */
        confirmed: number;
        /** @description How many failed. */
        failed: number;
        /** @description How many ended. */
        expired: number;
        /** @description Paid checkouts as a share of those that began; null where none began. */
        conversion_rate: number | null;
      };
      /** @description Day by day, oldest first. */
      daily: {
        /**
         * Format: date
         * @description The day.
         */
        date: string;
        /** @description How many checkouts began. */
        sessions: number;
        /** @description How many were paid. */
        confirmed: number;
        /** @description How many failed. */
        failed: number;
        /** @description What was paid in USDC. */
        USDC: components['schemas']['Sums'];
        /** @description What was paid in SOL. */
        SOL: components['schemas']['Sums'];
      }[];
      /** @description The ten products with the most payments. */
      top_products: {
        /** @description The id of the product. */
        product_id: string;
        /** @description A name. */
        name: string;
        /** @description How many. */
        count: number;
        /** @description What was paid in USDC. */
        USDC: components['schemas']['Sums'];
        /** @description What was paid in SOL. */
        SOL: components['schemas']['Sums'];
      }[];
      /** @description What became of memberships. */
      members: {
        /** @description How many began. */
        new: number;
        /** @description How many were extended. */
        renewed: number;
        /** @description How many ended. */
        expired: number;
        /** @description How many are active now. */
        active: number;
      };
      /** @description Of deliveries that ended in the window; absent where there was none. */
      webhooks: {
        /** @description The share that arrived. */
        success_rate?: number;
        /** @description How long all but the slowest twentieth took at most. */
        p95_ms?: number;
      };
      /**
       * Format: date-time
       * @description The moment these figures are true of.
       */
      as_of: string;
    };
    AssetTotals: {
      /** @description Price and overpaid of confirmed payments, a decimal as text. */
      gross: string;
      /** @description `gross` less `fee` and `refunded`. */
      net: string;
      /** @description What the service was paid of it. */
      fee: string;
      /** @description What was paid back. */
      refunded: string;
      /** @description How many. */
      count: number;
    };
    ApiKey: {
      /**
       * Format: uuid
       * @description Its id.
       */
      id: string;
      /** @description A name. */
      name: string;
      /** @description The beginning of the key, to recognise it by. */
      key_prefix: string;
      /** @description `read` reads, `execute` also writes. */
      permissions: ('read' | 'execute' | 'admin')[];
      /** @description True: the key sees and makes only what is in the sandbox. */
      sandbox_mode: boolean;
      /** @description When the key last called. */
      last_used_at: string | null;
      /**
       * Format: date-time
       * @description When it was made.
       */
      created_at: string;
      /** @description When the key was revoked. */
      revoked_at: string | null;
      /** @description What the key was used for. */
      usage_summary: {
        /** @description How many calls it made. */
        total_calls: number;
        /** @description How many succeeded. */
        success_calls: number;
        /** @description How many were refused or failed. */
        error_calls: number;
        /** @description How many units of customers it consumed. */
        credits_burned: number;
        /** @description When it last called. */
        latest_activity_at: string | null;
        /** @description What it last called. */
        latest_endpoint: string | null;
      };
      /** @description Its last calls. */
      recent_activity: {
        /**
         * Format: date-time
         * @description When it happened.
         */
        at: string;
        /** @description The HTTP method. */
        method: string;
        /** @description The path that was called. */
        endpoint: string;
        /** @description How it stands. */
        status: number;
        /** @description The id of the request, by which the operator finds it in the log. */
        request_id: string;
      }[];
    };
    CreatedApiKey: {
      /** @description The key, without its secret part. */
      key: components['schemas']['ApiKey'];
      /** @description The key itself. Shown here, and never again: keep it safe. */
      raw_key: string;
    };
    CreateKeyRequest: {
      /** @description What the key is for, to recognise it by. */
      name: string;
      /**
       * @description True: the key sees and makes only what is in the sandbox.
       * @default false
       */
      sandbox_mode?: boolean;
      /**
       * @description `read` reads, `execute` also writes.
       * @default [
       *       "read",
       *       "execute"
       *     ]
       */
      permissions?: ('read' | 'execute' | 'admin')[];
    };
    KeyResources: {
      /** @description Webhook endpoints. */
      endpoints: components['schemas']['WebhookEndpoint'][];
      /** @description How many automation hooks there are. */
      hooks: components['schemas']['AutomationHook'][];
    };
    AutomationHook: components['schemas']['WebhookEndpoint'] & {
      /**
       * Format: uuid
       * @description The endpoint_id again, where automation platforms look for it.
       */
      id: string;
    };
    Offer: {
      /**
       * Format: uuid
       * @description The id of the product.
       */
      product_id: string;
      /** @description The last part of the checkout page’s address: small letters, digits and hyphens. Made from the name where it is not given. */
      slug: string;
      /** @description A name. */
      name: string;
      /** @description A description. */
      description?: string;
      /** @description What it costs. */
      price: components['schemas']['Money'];
      /** @description What can be paid in: connect without an asset begins in the first. Empty where nothing can be paid. */
      accepted_assets: ('USDC' | 'SOL')[];
      /**
       * @description `one_off` is bought once; `recurring` is bought again for each period.
       * @enum {string}
       */
      billing_model: 'one_off' | 'recurring';
      /** @description For how many days a purchase gives access; null: without a time limit. Of an `api` product null by default, else 30, and 30 of all that renews itself. */
      access_period_days: number | null;
      /** @description How many units a purchase gives; null: without a limit. Of an `api` product 1 by default, else null. To sell 30 days of an API, send null. */
      usage_units: number | null;
      /** @description What units are called on the checkout page, as it stands behind their number: `requests`. */
      unit_name?: string;
      /** @description Whether a buyer first has to say who they are on Telegram or Discord. */
      requires_identity: ('telegram' | 'discord') | null;
      /** @description `mainnet` or `devnet`. */
      network: string;
      /** @description True of real money, false of the sandbox. */
      livemode: boolean;
      /** @description The page to send buyers to. */
      checkout_url: string;
      /** @description Who sells. */
      merchant: {
        /** @description The name of the account, as buyers see it. */
        display_name: string;
        /** @description The name the seller shows on the page. */
        brand_name?: string;
        /** @description The seller’s logo. */
        logo_url?: string;
        /** @description A wide picture above the product. */
        hero_image_url?: string;
        /** @description The colour of the seller’s buttons, as `#1a2b3c`. */
        accent_hex?: string;
        /** @description What the button back to the shop says. */
        success_button_label?: string;
        /** @description Where the seller helps. */
        support_url?: string;
      };
    };
    CreatedProduct: components['schemas']['Product'] & {
      /** @description What the product lacks to be sold, and what was chosen for it. Empty where nothing is to be said. */
      warnings: components['schemas']['ProductWarning'][];
    };
    /** @description Where buyers get access, of a `product_type` of that platform: a chat or guild that the account has claimed. */
    DeliveryPlace:
      | {
          /**
           * @description Who it is done with.
           * @enum {string}
           */
          provider: 'telegram';
          /** @description The number of the chat at Telegram, as text. */
          chat_id: string;
        }
      | {
          /**
           * @description Who it is done with.
           * @enum {string}
           */
          provider: 'discord';
          /** @description The number of the guild at Discord, as text. */
          guild_id: string;
          /** @description The number of the role that members get. */
          role_id: string;
          /** @description Where a buyer who is not in the guild is invited to. */
          channel_id?: string;
        };
    ProductWarning: {
      /**
       * @description What it is, for a program: branch on this.
       * @enum {string}
       */
      code: 'payout_wallet_missing' | 'rail_disabled' | 'plan_unpublished' | 'one_use_by_default';
      /** @description What it says. */
      message: string;
      /** @description The call that mends it. */
      fix: components['schemas']['Fix'];
    };
    /** @description What to do: a call, with values of yours in the place of <…>, or a transaction. With neither only the operator can do it. */
    Fix: {
      /** @description What happened, for a person. Never branch on it. */
      detail: string;
      /**
       * @description The HTTP method.
       * @enum {string}
       */
      method?: 'GET' | 'POST' | 'PUT' | 'PATCH';
      /** @description The path to call. */
      path?: string;
      /** @description The body to send. */
      body?: {
        [key: string]: unknown;
      };
      /** @description Unsigned, base64: sign it with the payout wallet and send it. */
      transaction?: string;
      /**
       * Format: uri
       * @description Page that shows the transaction in words and has a wallet sign and send it.
       */
      sign_url?: string;
    };
    Product: {
      /**
       * Format: uuid
       * @description The id of the product.
       */
      product_id: string;
      /** @description The last part of the checkout page’s address: small letters, digits and hyphens. Made from the name where it is not given. */
      slug: string;
      /** @description Your own name of the product, up to 180 characters, unique in its mode. Where a product is named, send this or `product_id`, not both. */
      external_product_id?: string;
      /**
       * Format: uuid
       * @description The id of the application the product belongs to.
       */
      access_app_id?: string;
      /** @description What is sold, as buyers see it. */
      name: string;
      /** @description What the buyer gets, in as many words as you like. */
      description?: string;
      /**
       * @description `api` is sold by use, `link`, `telegram` and `discord` by time. The defaults of `usage_units` and `access_period_days` follow it.
       * @enum {string}
       */
      product_type: 'api' | 'link' | 'telegram' | 'discord';
      /**
       * @description How it stands.
       * @enum {string}
       */
      status: 'active' | 'archived';
      /** @description What it costs. */
      price: components['schemas']['Money'];
      /** @description What buyers may pay in. The other asset than that of the price is converted when the checkout begins. */
      accepted_assets: ('USDC' | 'SOL')[];
      /**
       * @description `one_off` is bought once; `recurring` is bought again for each period.
       * @enum {string}
       */
      billing_model: 'one_off' | 'recurring';
      /**
       * @description `AUTOMATIC` renews by itself on the chain, for a price in USDC and a period of 1 to 365 days; `ONE_OFF` by hand. `solana_native_subscription` is another word for `AUTOMATIC`.
       * @enum {string}
       */
      renewal_mode: 'ONE_OFF' | 'AUTOMATIC';
      /** @description For how many days a purchase gives access; null: without a time limit. Of an `api` product null by default, else 30, and 30 of all that renews itself. */
      access_period_days: number | null;
      /** @description How many units a purchase gives; null: without a limit. Of an `api` product 1 by default, else null. To sell 30 days of an API, send null. */
      usage_units: number | null;
      /** @description What units are called on the checkout page, as it stands behind their number: `requests`. */
      unit_name?: string;
      /** @description The Solana wallet that is paid. Without one the rail setting’s or the account’s counts; without any, nothing can be sold. Put your own in the place of an example’s. */
      payout_wallet?: string;
      /** @description The rail that is shown first. */
      default_rail: string;
      /** @description The rails this product may be paid over; all that suit it where it is not given. */
      allowed_rails: string[];
      /** @description How long delivered access goes on after the paid time, for a buyer who renews a little late. */
      grace_hours: number;
      /** @description How long a checkout stays open, 300 to 3600 seconds; 900 by default. */
      session_seconds?: number;
      /** @description Whether a buyer first has to say who they are on Telegram or Discord. */
      requires_identity: ('telegram' | 'discord') | null;
      /** @description Where access is given: the chat or guild, and the role. */
      delivery?: components['schemas']['DeliveryPlace'];
      /** @description Where the buyer goes after paying: https, with `payment_id` and `status` added. A hint; check it from your server. */
      success_url?: string;
      /** @description Where the buyer goes back to without paying: https. */
      cancel_url?: string;
      /** @description Texts of your own, shown to no buyer: up to 50 keys of 40 characters, values of 500. A change merges; null removes a key. */
      metadata: {
        [key: string]: string;
      };
      /** @description Your word that this may be sold for real money over rails that ask for it. Plain checkout does not. */
      live_mode_confirmed: boolean;
      /** @description True: a `customer_ref` counts only from your own server, never from the public checkout. */
      trusted_customer_ref: boolean;
      /** @description True of real money, false of the sandbox. */
      livemode: boolean;
      /** @description The page to send buyers to. */
      checkout_url: string;
      /**
       * Format: date-time
       * @description When it was made.
       */
      created_at: string;
      /**
       * Format: date-time
       * @description When it last changed.
       */
      updated_at: string;
    };
    CreateProductRequest: {
      /** @description What is sold, as buyers see it. */
      name: string;
      /** @description What it costs. */
      price: components['schemas']['MoneyInput'];
      /** @description The last part of the checkout page’s address: small letters, digits and hyphens. Made from the name where it is not given. */
      slug?: string;
      /** @description Your own name of the product, up to 180 characters, unique in its mode. Where a product is named, send this or `product_id`, not both. */
      external_product_id?: string;
      /** @description What the buyer gets, in as many words as you like. */
      description?: string;
      /**
       * @description `api` is sold by use, `link`, `telegram` and `discord` by time. The defaults of `usage_units` and `access_period_days` follow it.
       * @default api
       * @enum {string}
       */
      product_type?: 'api' | 'link' | 'telegram' | 'discord';
      /** @description What buyers may pay in. The other asset than that of the price is converted when the checkout begins. */
      accepted_assets?: ('USDC' | 'SOL')[];
      /**
       * @description `one_off` is bought once; `recurring` is bought again for each period.
       * @enum {string}
       */
      billing_model?: 'one_off' | 'recurring';
      /** @description `AUTOMATIC` renews by itself on the chain, for a price in USDC and a period of 1 to 365 days; `ONE_OFF` by hand. `solana_native_subscription` is another word for `AUTOMATIC`. */
      renewal_mode?: ('ONE_OFF' | 'AUTOMATIC' | 'solana_native_subscription') | null;
      /** @description For how many days a purchase gives access; null: without a time limit. Of an `api` product null by default, else 30, and 30 of all that renews itself. */
      access_period_days?: number | null;
      /** @description How many units a purchase gives; null: without a limit. Of an `api` product 1 by default, else null. To sell 30 days of an API, send null. */
      usage_units?: number | null;
      /** @description What units are called on the checkout page, as it stands behind their number: `requests`. */
      unit_name?: string;
      /** @description The Solana wallet that is paid. Without one the rail setting’s or the account’s counts; without any, nothing can be sold. Put your own in the place of an example’s. */
      payout_wallet?: string;
      /** @description How long delivered access goes on after the paid time, for a buyer who renews a little late. */
      grace_hours?: number;
      /** @description How long a checkout stays open, 300 to 3600 seconds; 900 by default. */
      session_seconds?: number;
      /** @description Where a buyer has to show who they are before they pay. What it is now counts, also for payments already begun: without that identity they are not confirmed, and money that comes all the same is unmatched once they have ended. */
      requires_identity?: ('telegram' | 'discord') | null;
      /**
       * @description The rail that is shown first.
       * @enum {string}
       */
      default_rail?: 'solana_usdc' | 'solana_sol' | 'solana_usdc_subscription' | 'x402_solana_usdc' | 'mpp_solana_usdc';
      /** @description The rails this product may be paid over; all that suit it where it is not given. */
      allowed_rails?: ('solana_usdc' | 'solana_sol' | 'solana_usdc_subscription' | 'x402_solana_usdc' | 'mpp_solana_usdc')[];
      /**
       * Format: uuid
       * @description An app of yours, in the same mode.
       */
      access_app_id?: string;
      /** @description Where access is given: the chat or guild, and the role. */
      delivery?: components['schemas']['DeliveryPlace'];
      /**
       * Format: uri
       * @description Where the buyer goes after paying: https, with `payment_id` and `status` added. A hint; check it from your server.
       */
      success_url?: string;
      /**
       * Format: uri
       * @description Where the buyer goes back to without paying: https.
       */
      cancel_url?: string;
      /** @description Texts of your own, shown to no buyer: up to 50 keys of 40 characters, values of 500. A change merges; null removes a key. */
      metadata?: {
        [key: string]: string;
      };
      /** @description Your word that this may be sold for real money over rails that ask for it. Plain checkout does not. */
      live_mode_confirmed?: boolean;
      /**
       * @description Take `customer_ref` from your server alone, by payment session or hand-off. Without it a buyer may name one at connect: such a reference proves nothing, and a purchase under a known one extends that membership without changing its wallet or e-mail.
       * @default false
       */
      trusted_customer_ref?: boolean;
    };
    MoneyInput: {
      /**
       * @description `USDC` or `SOL`.
       * @enum {string}
       */
      asset: 'USDC' | 'SOL';
      /** @description A decimal as text, such as `12.5`. More decimals than the asset has are refused: USDC has 6, SOL has 9. */
      amount: string;
    };
    UpdateProductRequest: {
      /** @description What is sold, as buyers see it. */
      name?: string;
      /** @description What it costs. */
      price?: components['schemas']['MoneyInput'];
      /** @description Your own name of the product, up to 180 characters, unique in its mode. Where a product is named, send this or `product_id`, not both. */
      external_product_id?: string | null;
      /** @description A description. */
      description?: string | null;
      /**
       * @description `api` is sold by use, `link`, `telegram` and `discord` by time. The defaults of `usage_units` and `access_period_days` follow it.
       * @default api
       * @enum {string}
       */
      product_type?: 'api' | 'link' | 'telegram' | 'discord';
      /** @description What buyers may pay in. The other asset than that of the price is converted when the checkout begins. */
      accepted_assets?: ('USDC' | 'SOL')[];
      /**
       * @description `one_off` is bought once; `recurring` is bought again for each period.
       * @enum {string}
       */
      billing_model?: 'one_off' | 'recurring';
      /** @description `AUTOMATIC` renews by itself on the chain, for a price in USDC and a period of 1 to 365 days; `ONE_OFF` by hand. `solana_native_subscription` is another word for `AUTOMATIC`. */
      renewal_mode?: ('ONE_OFF' | 'AUTOMATIC' | 'solana_native_subscription') | null;
      /** @description For how many days a purchase gives access; null: without a time limit. Of an `api` product null by default, else 30, and 30 of all that renews itself. */
      access_period_days?: number | null;
      /** @description How many units a purchase gives; null: without a limit. Of an `api` product 1 by default, else null. To sell 30 days of an API, send null. */
      usage_units?: number | null;
      /** @description What units are called on the checkout page, as it stands behind their number: `requests`. */
      unit_name?: string | null;
      /** @description The Solana wallet that is paid. Without one the rail setting’s or the account’s counts; without any, nothing can be sold. Put your own in the place of an example’s. */
      payout_wallet?: string | null;
      /** @description How long delivered access goes on after the paid time, for a buyer who renews a little late. */
      grace_hours?: number;
      /** @description How long a checkout stays open, 300 to 3600 seconds; 900 by default. */
      session_seconds?: number | null;
      /** @description Where a buyer has to show who they are before they pay. What it is now counts, also for payments already begun: without that identity they are not confirmed, and money that comes all the same is unmatched once they have ended. */
      requires_identity?: ('telegram' | 'discord') | null;
      /**
       * @description The rail that is shown first.
       * @enum {string}
       */
      default_rail?: 'solana_usdc' | 'solana_sol' | 'solana_usdc_subscription' | 'x402_solana_usdc' | 'mpp_solana_usdc';
      /** @description The rails this product may be paid over; all that suit it where it is not given. */
      allowed_rails?: ('solana_usdc' | 'solana_sol' | 'solana_usdc_subscription' | 'x402_solana_usdc' | 'mpp_solana_usdc')[];
      /** @description The id of the application the product belongs to. */
      access_app_id?: string | null;
      /** @description Where access is given: the chat or guild, and the role. */
      delivery?: components['schemas']['DeliveryPlace'];
      /** @description Where the buyer goes after paying: https, with `payment_id` and `status` added. A hint; check it from your server. */
      success_url?: string | null;
      /** @description Where the buyer goes back to without paying: https. */
      cancel_url?: string | null;
      /** @description Texts of your own, shown to no buyer: up to 50 keys of 40 characters, values of 500. A change merges; null removes a key. */
      metadata?: {
        [key: string]: string | null;
      };
      /** @description Your word that this may be sold for real money over rails that ask for it. Plain checkout does not. */
      live_mode_confirmed?: boolean;
      /**
       * @description Take `customer_ref` from your server alone, by payment session or hand-off. Without it a buyer may name one at connect: such a reference proves nothing, and a purchase under a known one extends that membership without changing its wallet or e-mail.
       * @default false
       */
      trusted_customer_ref?: boolean;
    };
    ProductPage: {
      /** @description The entries of this page. */
      items: components['schemas']['Product'][];
      /** @description The number of this page, from 1. */
      page: number;
      /** @description How many entries a page has at most. */
      per_page: number;
      /** @description Number of entries on all pages. Exact up to 10,000, with some filters up to 2,000: the description of each list names them. */
      total: number;
      /** @description How many pages there are. */
      total_pages: number;
      /** @description Whether another page follows. */
      has_more: boolean;
      /**
       * @description False if the list has more entries than `total`.
       * @enum {boolean}
       */
      total_exact?: false;
    };
    ConnectResponse: {
      /**
       * Format: date-time
       * @description Business time of this answer. Count down to `expires_at` from here, not from the device's clock.
       */
      now: string;
      /**
       * Format: uuid
       * @description The id of the payment. Who knows it may read its state.
       */
      payment_id: string;
      /**
       * @description PENDING_CONFIRMATION only where the payment session already holds a payment that is on its way: wait, do not pay again.
       * @enum {string}
       */
      status: 'PENDING_SIGNATURE' | 'PENDING_CONFIRMATION';
      /** @description The part of the memo that is this payment’s own. */
      nonce: string;
      /** @description The text that the transaction has to carry, so that it is known for this payment. */
      memo: string;
      /** @description What it costs. */
      price: components['schemas']['Money'];
      /** @description The wallet that is paid. */
      recipient: string;
      /** @description The service’s share, which the buyer’s one transaction pays beside the merchant’s; absent where there is none. */
      fee?: {
        /** @description The wallet that is paid. */
        recipient: string;
        /**
         * @description `USDC` or `SOL`.
         * @enum {string}
         */
        asset: 'USDC' | 'SOL';
        /** @description A decimal as text, such as `12.5`. More decimals than the asset has are refused: USDC has 6, SOL has 9. */
        amount: string;
        /** @description The same amount in the smallest units of the asset, an integer as text. */
        base_units: string;
      };
      /** @description The network in CAIP-2. */
      network: string;
      /** @description The token’s mint address; absent for SOL. */
      mint?: string;
      /** @description How many decimals the asset has. */
      decimals: number;
      /** @description Keys that the transaction has to name, read-only: by them it is found on the chain. */
      references: string[];
      /** @description Absent of what renews itself: its buyer signs `subscription.steps`. */
      solana_pay_url?: string;
      /** @description Unsigned, base64. Sign it and send it to POST /v1/payments/{payment_id}/transaction. */
      transaction?: string;
      /** @description Until this block the transaction can be sent; afterwards ask for a new one. */
      last_valid_block_height?: number;
      /** @description Of what renews itself: what its buyer signs. */
      subscription?: components['schemas']['Subscribing'] & unknown;
      /** @description The rate by which the price was converted, where the buyer pays in another asset. */
      price_quote?: components['schemas']['PriceQuote'];
      /** @description Money that arrived and does not pay this payment; for its buyer alone. */
      seen?: components['schemas']['SeenMoney'];
      /**
       * Format: date-time
       * @description When it ends.
       */
      expires_at: string;
      /** @description Ask here how the payment stands. */
      status_url: string;
      /** @description Ask again after so many milliseconds; null where the state is final. */
      poll_after_ms: number | null;
    };
    /** @description The buyer has to show who they are first: POST /v1/products/p/{slug}/identity, then connect again with its identity_session_id. */
    IdentityNeeded: {
      /** @description Whether the buyer has to say who they are, and where. */
      identity: {
        /**
         * @description True: it is needed before anything can be paid.
         * @enum {boolean}
         */
        required: true;
        /**
         * @description Who it is done with.
         * @enum {string}
         */
        provider: 'telegram' | 'discord';
      };
    };
    ConnectRequest: {
      /**
       * @description What the buyer pays in: one of the product’s `accepted_assets`; by default the asset of the price.
       * @enum {string}
       */
      asset?: 'USDC' | 'SOL';
      /** @description With it comes a transaction, ready to sign. */
      wallet_address?: string;
      /**
       * Format: email
       * @description An e-mail address.
       */
      email?: string;
      /** @description The merchant's own name for the buyer; keys membership and entitlement. Said here it is a claim of the buyer's: it extends a known membership and never changes its wallet or e-mail. 422 where the product has `trusted_customer_ref`. */
      customer_ref?: string;
      /** @description The language the buyer reads, as `pt-BR` (BCP 47) or `pt_BR`: one of en, es, de, fr, pt-BR, ja, in any region. It is kept with the payment. */
      locale?: string;
      /** @description The token of a hand-off: what stands in its link. */
      handoff_token?: string;
      /**
       * Format: uuid
       * @description The id under which a buyer shows who they are.
       */
      identity_session_id?: string;
      /**
       * Format: uuid
       * @description From POST /v1/access/payment-sessions: its price, customer and success URL win, and it is paid once.
       */
      payment_session_id?: string;
      /**
       * Format: uuid
       * @description A payment of this product that nobody has signed: it fails (`replaced`), and the answer is another in its place, in `asset` or with its time anew. Price, customer, identity, session and hand-off are those of it, whatever else is said here. Money that comes for it all the same is unmatched. 409 `in_flight` while a transaction of it may land.
       */
      replaces_payment_id?: string;
    };
    SolanaPayLabel: {
      /** @description Who asks for the payment. */
      label: string;
      /**
       * Format: uri
       * @description A picture to show beside the label.
       */
      icon: string;
    };
    SolanaPayTransaction: {
      /** @description A Solana transaction in base64. One that we hand out is unsigned. */
      transaction: string;
      /** @description What it says. */
      message: string;
    };
    SolanaPayRequest: {
      /** @description The wallet that will sign, as Solana Pay sends it. */
      account: string;
    } & {
      [key: string]: unknown;
    };
    SendTransactionResponse: {
      /** @description The payment as it is now. */
      payment: components['schemas']['Payment'];
      /** @description The signature of the transaction, by which the chain knows it. */
      tx_signature: string;
    };
    SendTransactionRequest: {
      /** @description A Solana transaction in base64. One that we hand out is unsigned. */
      transaction: string;
    };
    Handoff: {
      /** @description The token of a hand-off: what stands in its link. */
      handoff_token: string;
      /** @description The link to send the buyer to; it works for one payment. */
      url: string;
      /**
       * Format: date-time
       * @description When it ends.
       */
      expires_at: string;
    };
    HandoffRequest: {
      /** @description Your own name of the customer: 1 to 180 characters, no control characters, no space at either end. Compared after Unicode NFC. */
      customer_ref?: string;
      /**
       * Format: email
       * @description An e-mail address.
       */
      email?: string;
      /** @description The address of a Solana wallet. */
      wallet_address?: string;
      /**
       * Format: uri
       * @description Where the buyer goes after paying: https, with `payment_id` and `status` added. A hint; check it from your server.
       */
      success_url?: string;
      /** @description Texts of your own, shown to no buyer: up to 50 keys of 40 characters, values of 500. A change merges; null removes a key. */
      metadata?: {
        [key: string]: string;
      };
    };
    ResolvedHandoff: {
      /**
       * Format: uuid
       * @description The id of the product.
       */
      product_id: string;
      /** @description The last part of the checkout page’s address: small letters, digits and hyphens. Made from the name where it is not given. */
      slug: string;
      /** @description Shortened, for the buyer to recognise. */
      customer_label?: string;
      /**
       * Format: date-time
       * @description When it ends.
       */
      expires_at: string;
    };
    IdentitySession: {
      /**
       * Format: uuid
       * @description The id under which a buyer shows who they are.
       */
      identity_session_id: string;
      /**
       * @description Who it is done with.
       * @enum {string}
       */
      provider: 'telegram' | 'discord';
      /** @description Where to send the buyer. */
      deep_link: string;
      /**
       * Format: date-time
       * @description When it ends.
       */
      expires_at: string;
    };
    CompletedIdentity: {
      /**
       * Format: uuid
       * @description The id under which a buyer shows who they are.
       */
      identity_session_id: string;
      /**
       * @description Who it is done with.
       * @enum {string}
       */
      provider: 'telegram' | 'discord';
      /** @description The buyer’s id on that platform. */
      provider_user_id: string;
      /** @description The buyer’s name there. */
      username?: string;
      /**
       * @description How it stands.
       * @enum {string}
       */
      status: 'completed';
      /**
       * Format: date-time
       * @description When the buyer showed who they are.
       */
      completed_at: string;
      /**
       * Format: date-time
       * @description When it ends.
       */
      expires_at: string;
    };
    ConnectorIdentity: {
      /**
       * Format: uuid
       * @description The id under which a buyer shows who they are.
       */
      identity_session_id: string;
      /** @description The buyer’s id on that platform. */
      provider_user_id: string;
      /** @description The buyer’s name there. */
      username?: string;
      /** @description By which Discord lets the buyer be added to a guild. Kept sealed, used once, then erased. */
      grant?: {
        /** @description Of the buyer at the platform: used once to let them in, then erased. */
        access_token: string;
        /**
         * Format: date-time
         * @description When it ends.
         */
        expires_at: string;
      };
    };
    PaymentPage: {
      /** @description The entries of this page. */
      items: components['schemas']['Payment'][];
      /** @description The number of this page, from 1. */
      page: number;
      /** @description How many entries a page has at most. */
      per_page: number;
      /** @description Number of entries on all pages. Exact up to 10,000, with some filters up to 2,000: the description of each list names them. */
      total: number;
      /** @description How many pages there are. */
      total_pages: number;
      /** @description Whether another page follows. */
      has_more: boolean;
      /**
       * @description False if the list has more entries than `total`.
       * @enum {boolean}
       */
      total_exact?: false;
    };
    AcceptUnmatchedRequest: {
      /** @description The signature of the transaction, by which the chain knows it. */
      tx_signature: string;
    };
    ReceiptRequest: {
      /** @description The signature of the transaction, by which the chain knows it. */
      tx_sig: string;
    };
    RefundTransaction: {
      /** @description A Solana transaction in base64. One that we hand out is unsigned. */
      transaction: string;
      /**
       * Format: date-time
       * @description When it ends.
       */
      expires_at: string;
    };
    RefundTransactionRequest: {
      /** @description Without one all that is left of price and overpaid. */
      amount?: {
        /**
         * @description `USDC` or `SOL`.
         * @enum {string}
         */
        asset: 'USDC' | 'SOL';
        /** @description A decimal as text, such as `12.5`. More decimals than the asset has are refused: USDC has 6, SOL has 9. */
        amount: string;
      };
      /**
       * @description Take back what the payment bought when the refund is seen, and stop the subscription that it paid a period of.
       * @default false
       */
      revoke_access?: boolean;
    };
    ConfirmRefundRequest: {
      /** @description The signature of the transaction, by which the chain knows it. */
      tx_signature: string;
    };
    CurrentPayment: components['schemas']['Payment'] & {
      /**
       * Format: date-time
       * @description Business time of this answer. Count down to `expires_at` from here, not from the device's clock.
       */
      now: string;
    };
    ConfirmResponse: {
      /**
       * Format: date-time
       * @description Business time of this answer. Count down to `expires_at` from here, not from the device's clock.
       */
      now: string;
      /** @description The payment as it is now. */
      payment: components['schemas']['Payment'];
      /**
       * Format: uuid
       * @description The id of the membership.
       */
      membership_id?: string;
      /**
       * Format: uuid
       * @description The id of the receipt.
       */
      receipt_id?: string;
      /** @description Where the buyer goes next. */
      redirect_url?: string;
      /** @description True where it was confirmed before this call. */
      already_confirmed: boolean;
    };
    ConfirmRequest: {
      /**
       * Format: uuid
       * @description The id of the payment. Who knows it may read its state.
       */
      payment_id: string;
      /** @description The signature of the transaction, by which the chain knows it. */
      tx_signature: string;
    };
    ChainWebhookResponse: {
      /** @description How many of the transactions will be looked at. */
      accepted: number;
    };
    MembershipPage: {
      /** @description The entries of this page. */
      items: components['schemas']['Membership'][];
      /** @description The number of this page, from 1. */
      page: number;
      /** @description How many entries a page has at most. */
      per_page: number;
      /** @description Number of entries on all pages. Exact up to 10,000, with some filters up to 2,000: the description of each list names them. */
      total: number;
      /** @description How many pages there are. */
      total_pages: number;
      /** @description Whether another page follows. */
      has_more: boolean;
      /**
       * @description False if the list has more entries than `total`.
       * @enum {boolean}
       */
      total_exact?: false;
    };
    ReceiptPage: {
      /** @description The entries of this page. */
      items: components['schemas']['Receipt'][];
      /** @description The number of this page, from 1. */
      page: number;
      /** @description How many entries a page has at most. */
      per_page: number;
      /** @description Number of entries on all pages. Exact up to 10,000, with some filters up to 2,000: the description of each list names them. */
      total: number;
      /** @description How many pages there are. */
      total_pages: number;
      /** @description Whether another page follows. */
      has_more: boolean;
      /**
       * @description False if the list has more entries than `total`.
       * @enum {boolean}
       */
      total_exact?: false;
    };
    ReceiptVerification: {
      /** @description Whether the receipt is what it says, and its payment still stands. */
      valid: boolean;
      /**
       * @description Why it is not valid.
       * @enum {string}
       */
      reason?: 'sha256_mismatch' | 'signature_invalid' | 'unknown_key' | 'record_mismatch' | 'transaction_orphaned';
      /** @description Whether the bytes have the hash that the receipt says. */
      sha256_matches: boolean;
      /** @description Whether the signature is of these bytes, by the key that is named. */
      signature_valid: boolean;
      /** @description The key that signed. */
      key_id: string;
      /** @description SHA-256 of the document’s bytes, in hex. */
      sha256: string;
      /**
       * Format: date-time
       * @description When this was looked at.
       */
      checked_at: string;
    };
    InvoiceMetadataPatch: {
      /** @description Your number of the invoice. */
      invoice_number?: string | null;
      /** @description A text of yours, such as an order number. */
      reference?: string | null;
      /** @description The day of the invoice, as `2026-11-21`. */
      issued_on?: string | null;
      /** @description The day by which it is due. */
      due_on?: string | null;
      /** @description Anything else. */
      notes?: string | null;
      /** @description What was sold, line by line. */
      lines?: components['schemas']['InvoiceLine'][] | null;
      /** @description Who sells, as the invoice has it. */
      seller?: {
        /** @description A name. */
        name?: string | null;
        /** @description A postal address. */
        address?: string | null;
        /** @description A number of the tax office. */
        tax_id?: string | null;
      } | null;
      /** @description Who is billed. */
      bill_to?: {
        /** @description A name. */
        name?: string | null;
        /** @description A postal address. */
        address?: string | null;
        /** @description A number of the tax office. */
        tax_id?: string | null;
        /** @description An e-mail address. */
        email?: string | null;
      } | null;
      /** @description The tax that is contained. */
      tax?: {
        /** @description A short name. */
        label?: string | null;
        /** @description The rate in per cent, a decimal as text. */
        rate_percent?: string | null;
        /** @description The tax itself, a decimal as text. */
        amount?: string | null;
      } | null;
    };
    SendProofResponse: {
      /** @description What happened, for a person. Never branch on it. */
      detail: string;
      /**
       * Format: uuid
       * @description The id of the message.
       */
      message_id: string;
    };
    SendProofRequest: {
      /**
       * Format: email
       * @description An e-mail address.
       */
      email: string;
      /** @description A name. */
      name?: string;
      /** @description What it says. */
      message?: string;
      /**
       * @description The language of e-mails, such as `en`.
       * @enum {string}
       */
      locale?: 'en' | 'es' | 'de' | 'fr' | 'pt-BR' | 'ja';
    };
    WebhookEndpointPage: {
      /** @description The entries of this page. */
      items: components['schemas']['WebhookEndpoint'][];
      /** @description The number of this page, from 1. */
      page: number;
      /** @description How many entries a page has at most. */
      per_page: number;
      /** @description Number of entries on all pages. Exact up to 10,000, with some filters up to 2,000: the description of each list names them. */
      total: number;
      /** @description How many pages there are. */
      total_pages: number;
      /** @description Whether another page follows. */
      has_more: boolean;
      /**
       * @description False if the list has more entries than `total`.
       * @enum {boolean}
       */
      total_exact?: false;
    };
    WebhookEndpointWithSecret: components['schemas']['WebhookEndpoint'] & {
      /** @description The signing secret. Shown here, and never again. */
      secret: string;
    };
    CreateWebhookEndpointRequest: {
      /**
       * Format: uri
       * @description An https address.
       */
      url: string;
      /** @description A description. */
      description?: string;
      /** @description Which events are sent: `payment.confirmed`, a group as `payment.*`, or `*`. GET /v1/webhooks/event-types lists them. */
      event_types?: string[];
      /** @description Of which products; empty: of all. */
      product_ids?: string[];
      /**
       * @description What `X-Svc-Signature` covers: `timestamp.body`, or the raw `body` alone.
       * @enum {string}
       */
      signed_payload?: 'timestamp.body' | 'body';
    };
    UpdateWebhookEndpointRequest: {
      /**
       * Format: uri
       * @description An https address.
       */
      url?: string;
      /** @description A description. */
      description?: string | null;
      /** @description Which events are sent: `payment.confirmed`, a group as `payment.*`, or `*`. GET /v1/webhooks/event-types lists them. */
      event_types?: string[];
      /** @description Of which products; empty: of all. */
      product_ids?: string[];
      /**
       * @description What `X-Svc-Signature` covers: `timestamp.body`, or the raw `body` alone.
       * @enum {string}
       */
      signed_payload?: 'timestamp.body' | 'body';
      /**
       * @description How it stands.
       * @enum {string}
       */
      status?: 'enabled' | 'disabled';
    };
    RotateSecretRequest: {
      /**
       * @description For how many hours the old secret signs beside the new one; 24 by default.
       * @default 24
       */
      overlap_hours?: number;
    };
    WebhookRecovery: {
      /** @description How many deliveries were put into the queue. */
      scheduled: number;
    };
    RecoverWebhookRequest: {
      /**
       * Format: date-time
       * @description From when.
       */
      since: string;
      /**
       * Format: date-time
       * @description Until when; now where it is not given.
       */
      until?: string;
    };
    WebhookDeliveryPage: {
      /** @description The entries of this page. */
      items: components['schemas']['WebhookDelivery'][];
      /** @description The number of this page, from 1. */
      page: number;
      /** @description How many entries a page has at most. */
      per_page: number;
      /** @description Number of entries on all pages. Exact up to 10,000, with some filters up to 2,000: the description of each list names them. */
      total: number;
      /** @description How many pages there are. */
      total_pages: number;
      /** @description Whether another page follows. */
      has_more: boolean;
      /**
       * @description False if the list has more entries than `total`.
       * @enum {boolean}
       */
      total_exact?: false;
    };
    WebhookDelivery: {
      /** @description The id of the delivery. */
      delivery_id: number;
      /**
       * Format: uuid
       * @description The id of the endpoint.
       */
      endpoint_id: string;
      /** @description The id of the event: be idempotent on it. */
      event_id: string;
      /** @description The type of the event, such as `payment.confirmed`. */
      event_type: string;
      /**
       * @description How it stands.
       * @enum {string}
       */
      status: 'pending' | 'retrying' | 'succeeded' | 'failed' | 'cancelled';
      /** @description The number of the attempt, from 1. */
      attempt: number;
      /** @description How many attempts there are at most. */
      max_attempts: number;
      /** @description What your server answered. */
      response_status?: number;
      /** @description How long your server took. */
      response_ms?: number;
      /** @description The beginning of what your server said. */
      response_excerpt?: string;
      /** @description Why the attempt failed, where no answer came. */
      error?: string;
      /**
       * @description Sent by a test of the endpoint.
       * @enum {boolean}
       */
      test?: true;
      /** @description When it is tried again. */
      next_attempt_at?: string | null;
      /** @description The delivery that this one repeats. */
      replay_of?: number;
      /**
       * Format: date-time
       * @description When it was made.
       */
      created_at: string;
      /**
       * Format: date-time
       * @description When it ended.
       */
      completed_at?: string;
    };
    WebhookTimeline: {
      /** @description The entries of this page. */
      items: {
        /**
         * Format: date-time
         * @description When it happened.
         */
        at: string;
        /**
         * @description Of which kind it is.
         * @enum {string}
         */
        kind: 'event' | 'delivery';
        /** @description Of which type it is. */
        type: string;
        /** @description The id of the event: be idempotent on it. */
        event_id?: string;
        /** @description The id of the delivery. */
        delivery_id?: number;
        /** @description How it stands. */
        status?: string;
      }[];
      /** @description Cursor of the next page; null on the last one. */
      next: string | null;
    };
    EventPage: {
      /** @description The entries of this page. */
      items: components['schemas']['Event'][];
      /** @description The number of this page, from 1. */
      page: number;
      /** @description How many entries a page has at most. */
      per_page: number;
      /** @description Number of entries on all pages. Exact up to 10,000, with some filters up to 2,000: the description of each list names them. */
      total: number;
      /** @description How many pages there are. */
      total_pages: number;
      /** @description Whether another page follows. */
      has_more: boolean;
      /**
       * @description False if the list has more entries than `total`.
       * @enum {boolean}
       */
      total_exact?: false;
    };
    IntegrationHealth: {
      /**
       * @description How it stands.
       * @enum {string}
       */
      status: 'ok' | 'degraded';
      /** @description Webhook endpoints. */
      endpoints: {
        /** @description How many receive events. */
        enabled: number;
        /** @description How many are disabled. */
        disabled: number;
        /** @description How many have not succeeded for a while. */
        failing: number;
      };
      /**
       * Format: date-time
       * @description When something was last delivered.
       */
      last_delivery_at?: string;
      /** @description Absent where nothing was delivered or given up in a day. */
      success_rate_24h?: number;
      /** @description Absent where nothing waits. */
      oldest_pending_seconds?: number;
      /** @description How many automation hooks there are. */
      hooks: number;
    };
    AutomationHookWithSecret: components['schemas']['AutomationHook'] & {
      /** @description The signing secret. Shown here, and never again. */
      secret: string;
    };
    SubscribeHookRequest: {
      /** @description Where events are sent. */
      target_url?: string;
      /** @description The same as `target_url`, as some platforms send it. */
      hookUrl?: string;
      /** @description The type of the event, such as `payment.confirmed`. */
      event_type?: string;
      /** @description The same as `event_type`, as some platforms send it. */
      event?: string;
      /** @description Of which products; empty: of all. */
      product_ids?: string[];
    };
    CreatedSupportTicket: components['schemas']['SupportTicket'] & {
      /** @description What was written, oldest first. */
      messages: components['schemas']['SupportMessage'][];
    };
    CreateTicketRequest: {
      /** @description What it is about. */
      subject: string;
      /** @description What you want to ask, 1 to 10,000 characters. */
      body: string;
      /**
       * @description What it is about.
       * @default other
       * @enum {string}
       */
      category?: 'payment' | 'delivery' | 'webhook' | 'billing' | 'other';
      /**
       * Format: uuid
       * @description The id of the payment. Who knows it may read its state.
       */
      payment_id?: string;
      /**
       * Format: uuid
       * @description The id of the membership.
       */
      membership_id?: string;
    };
    SupportTicketPage: {
      /** @description The entries of this page. */
      items: components['schemas']['SupportTicket'][];
      /** @description The number of this page, from 1. */
      page: number;
      /** @description How many entries a page has at most. */
      per_page: number;
      /** @description Number of entries on all pages. Exact up to 10,000, with some filters up to 2,000: the description of each list names them. */
      total: number;
      /** @description How many pages there are. */
      total_pages: number;
      /** @description Whether another page follows. */
      has_more: boolean;
      /**
       * @description False if the list has more entries than `total`.
       * @enum {boolean}
       */
      total_exact?: false;
    };
    SupportThread: components['schemas']['CreatedSupportTicket'] & {
      /**
       * Format: uuid
       * @description There are older messages: `before` takes this id. Absent: there are none.
       */
      messages_before?: string;
      /** @description Of the linked payment or membership, oldest first; empty without one. */
      timeline: {
        /**
         * Format: date-time
         * @description When it happened.
         */
        at: string;
        /**
         * @description Of which kind it is.
         * @enum {string}
         */
        kind: 'event' | 'delivery';
        /** @description Of which type it is. */
        type: string;
        /** @description The id of the event: be idempotent on it. */
        event_id?: string;
        /** @description The id of the delivery. */
        delivery_id?: number;
        /** @description How it stands. */
        status?: string;
      }[];
    };
    AddMessageRequest: {
      /** @description What you want to say, 1 to 10,000 characters. */
      body: string;
    };
    ConsumeResponse: {
      /**
       * @description True: serve the request.
       * @enum {boolean}
       */
      consumed: true;
      /** @description The id of this use, by which it is refunded if the work fails. */
      consumption_id: string;
      /**
       * Format: uuid
       * @description The id of the entitlement: always the same for this customer and product.
       */
      entitlement_id: string;
      /** @description How many units were used. */
      units: number;
      /** @description How many units are left; null: without a limit. */
      remaining: number | null;
      /** @description Until when it is paid; null: without an end. */
      paid_through: string | null;
    };
    ConsumeRequest: {
      /**
       * Format: uuid
       * @description The id of the product.
       */
      product_id?: string;
      /** @description Your own name of the product, up to 180 characters, unique in its mode. Where a product is named, send this or `product_id`, not both. */
      external_product_id?: string;
      /** @description Whom it is about: a wallet, or your own name of the customer. Exactly one where it is asked for. */
      customer: components['schemas']['Customer'];
      /**
       * @description How many units; 1 where it is not given.
       * @default 1
       */
      units?: number;
      /** @description What the customer asked for: goes into the challenge. */
      resource?: {
        /**
         * Format: uri
         * @description An https address.
         */
        url: string;
        /** @description A description. */
        description?: string;
        /** @description The type of what is served. */
        mime_type?: string;
      };
    };
    GrantRequest: {
      /**
       * Format: uuid
       * @description The id of the product.
       */
      product_id?: string;
      /** @description Your own name of the product, up to 180 characters, unique in its mode. Where a product is named, send this or `product_id`, not both. */
      external_product_id?: string;
      /** @description Whom it is about: a wallet, or your own name of the customer. Exactly one where it is asked for. */
      customer: components['schemas']['Customer'];
      /** @description How many units to give. */
      units?: number;
      /** @description How many days. */
      days?: number;
      /** @description Why, for the books. */
      reason: string;
    };
    RefundResponse: {
      /**
       * @description True: the units are free again.
       * @enum {boolean}
       */
      refunded: true;
      /** @description The id of this use, by which it is refunded if the work fails. */
      consumption_id: string;
      /**
       * Format: uuid
       * @description The id of the entitlement: always the same for this customer and product.
       */
      entitlement_id: string;
      /** @description How many units are free again. */
      units: number;
      /** @description How many units are left; null: without a limit. */
      remaining: number | null;
      /** @description Until when it is paid; null: without an end. */
      paid_through: string | null;
    };
    RefundRequest: {
      /** @description The id of this use, by which it is refunded if the work fails. */
      consumption_id: string;
      /** @description Why, for the books. */
      reason: string;
    };
    EntitlementPage: {
      /** @description The entries of this page. */
      items: components['schemas']['Entitlement'][];
      /** @description The number of this page, from 1. */
      page: number;
      /** @description How many entries a page has at most. */
      per_page: number;
      /** @description Number of entries on all pages. Exact up to 10,000, with some filters up to 2,000: the description of each list names them. */
      total: number;
      /** @description How many pages there are. */
      total_pages: number;
      /** @description Whether another page follows. */
      has_more: boolean;
      /**
       * @description False if the list has more entries than `total`.
       * @enum {boolean}
       */
      total_exact?: false;
    };
    RailPage: {
      /** @description The entries of this page. */
      items: components['schemas']['Rail'][];
      /** @description The number of this page, from 1. */
      page: number;
      /** @description How many entries a page has at most. */
      per_page: number;
      /** @description Number of entries on all pages. Exact up to 10,000, with some filters up to 2,000: the description of each list names them. */
      total: number;
      /** @description How many pages there are. */
      total_pages: number;
      /** @description Whether another page follows. */
      has_more: boolean;
      /**
       * @description False if the list has more entries than `total`.
       * @enum {boolean}
       */
      total_exact?: false;
    };
    Rail: {
      /**
       * @description The way of being paid; GET /v1/access/rails lists them.
       * @enum {string}
       */
      rail_id: 'solana_usdc' | 'solana_sol' | 'solana_usdc_subscription' | 'x402_solana_usdc' | 'mpp_solana_usdc';
      /** @description A name. */
      name: string;
      /**
       * @description Of which kind it is.
       * @enum {string}
       */
      kind: 'checkout' | 'subscription' | 'x402' | 'mpp';
      /**
       * @description `USDC` or `SOL`.
       * @enum {string}
       */
      asset: 'USDC' | 'SOL';
      /** @description The network in CAIP-2. */
      network: string;
      /** @description The token’s mint address; absent for SOL. */
      mint?: string;
      /** @description How many decimals the asset has. */
      decimals: number;
      /**
       * @description How it stands.
       * @enum {string}
       */
      status: 'available' | 'degraded' | 'unavailable';
      /** @description Why, for the books. */
      reason?: string;
      /** @description What can be sold over it. */
      supports: string[];
    };
    RailSettingPage: {
      /** @description The entries of this page. */
      items: components['schemas']['RailSetting'][];
      /** @description The number of this page, from 1. */
      page: number;
      /** @description How many entries a page has at most. */
      per_page: number;
      /** @description Number of entries on all pages. Exact up to 10,000, with some filters up to 2,000: the description of each list names them. */
      total: number;
      /** @description How many pages there are. */
      total_pages: number;
      /** @description Whether another page follows. */
      has_more: boolean;
      /**
       * @description False if the list has more entries than `total`.
       * @enum {boolean}
       */
      total_exact?: false;
    };
    RailSetting: {
      /**
       * @description The way of being paid; GET /v1/access/rails lists them.
       * @enum {string}
       */
      rail_id: 'solana_usdc' | 'solana_sol' | 'solana_usdc_subscription' | 'x402_solana_usdc' | 'mpp_solana_usdc';
      /** @description Whether the rail may be used. */
      enabled: boolean;
      /** @description Wallet that the rail pays; null: the wallet of the account. */
      payout_wallet: string | null;
      /** @description USDC account of the wallet that the money goes to; SOL goes to the wallet itself. */
      payout_ata: string | null;
      /** @description Null where there is no wallet yet, where none is needed, where the node does not answer, and in the sandbox, which never asks it. */
      ata_exists: boolean | null;
      /** @description Unsigned, base64: creates the missing account. Open `/sign#<transaction>` of this service to sign and send it with the payout wallet. */
      create_ata_transaction: string | null;
      /** @description Null until the merchant sets something. */
      updated_at: string | null;
    };
    RailSettingUpdate: {
      /** @description Whether the rail may be used. */
      enabled?: boolean;
      /** @description The Solana wallet that is paid. Without one the rail setting’s or the account’s counts; without any, nothing can be sold. Put your own in the place of an example’s. */
      payout_wallet?: string | null;
    };
    AccessApp: {
      /**
       * Format: uuid
       * @description The id of the application the product belongs to.
       */
      access_app_id: string;
      /** @description A name. */
      name: string;
      /** @description An https address of its own. */
      homepage_url?: string;
      /**
       * Format: date-time
       * @description When it was made.
       */
      created_at: string;
    };
    CreateAppRequest: {
      /** @description A name. */
      name: string;
      /**
       * Format: uri
       * @description An https address of its own.
       */
      homepage_url?: string;
    };
    Readiness: {
      /** @description A sale over the default rail would work this moment. `rails` says the same of each other rail: x402 also wants `live_mode_confirmed`. */
      ready: boolean;
      /**
       * @description `live` or `sandbox`.
       * @enum {string}
       */
      mode: 'live' | 'sandbox';
      /**
       * Format: uuid
       * @description The id of the application the product belongs to.
       */
      access_app_id?: string;
      /**
       * Format: uuid
       * @description The id of the product.
       */
      product_id?: string;
      /** @description What was looked at. */
      checks: components['schemas']['ReadinessCheck'][];
      /** @description Rails that the product is offered on, and whether each one sells this moment. */
      rails: {
        /**
         * @description The way of being paid; GET /v1/access/rails lists them.
         * @enum {string}
         */
        rail_id: 'solana_usdc' | 'solana_sol' | 'solana_usdc_subscription' | 'x402_solana_usdc' | 'mpp_solana_usdc';
        /** @description True if a sale over the rail would work this moment. */
        ready: boolean;
      }[];
      /** @description Codes of the checks that stop a sale over the default rail; a check may fail for another rail alone. */
      blocking: string[];
      /** @description Parts of this deployment that are not configured, each with the variables that are missing. */
      not_configured: components['schemas']['Unconfigured'];
      /**
       * Format: date-time
       * @description When this was looked at.
       */
      checked_at: string;
    };
    ReadinessCheck: {
      /**
       * @description What it is, for a program: branch on this.
       * @enum {string}
       */
      code:
        | 'app_found'
        | 'product_found'
        | 'product_active'
        | 'price_set'
        | 'rail_enabled'
        | 'payout_wallet_set'
        | 'payout_ata_exists'
        | 'fee_wallet_configured'
        | 'webhook_endpoint_enabled'
        | 'plan_active'
        | 'live_mode_confirmed'
        | 'live_key_present'
        | 'subscription_plan_published';
      /**
       * @description How it stands.
       * @enum {string}
       */
      status: 'pass' | 'fail' | 'warn' | 'skip';
      /** @description What it says. */
      message: string;
      /** @description The call that mends it; null where nothing has to be mended. */
      fix: components['schemas']['Fix'] | null;
      /** @description Page that says what the check means. */
      docs_url: string;
    };
    /** @description What the operator has not set up, by `google`, `github`, `processor` and `mail`: the variables and bindings that each lacks, by name; by `keys` those that lack a key which open payments, channels or subscriptions name. What is whole is not in it. None of it stops a sale. */
    Unconfigured: {
      [key: string]: string[];
    };
    ProductRailPage: {
      /** @description The entries of this page. */
      items: components['schemas']['ProductRail'][];
      /** @description The number of this page, from 1. */
      page: number;
      /** @description How many entries a page has at most. */
      per_page: number;
      /** @description Number of entries on all pages. Exact up to 10,000, with some filters up to 2,000: the description of each list names them. */
      total: number;
      /** @description How many pages there are. */
      total_pages: number;
      /** @description Whether another page follows. */
      has_more: boolean;
      /**
       * @description False if the list has more entries than `total`.
       * @enum {boolean}
       */
      total_exact?: false;
    };
    ProductRail: components['schemas']['Rail'] & {
      /** @description Of the service (GET /v1/access/rails), or what stops the sale, in the words of setup_not_ready; readiness has a check for each. */
      reason?: string;
      /** @description The call that mends it. */
      fix?: components['schemas']['Fix'];
    };
    SubscriptionPlan: {
      /**
       * @description `outdated`: a plan was published, and the product has another price, period or payout wallet by now. Nothing is sold until the new plan is published; who subscribed stays on theirs. `sunset`: its owner lets nobody subscribe to it any more.
       * @enum {string}
       */
      status: 'unpublished' | 'published' | 'outdated' | 'sunset';
      /** @description Where the plan of the present terms stands on the chain, or will. */
      plan_address: string;
      /** @description The program’s number of that plan, made of its terms. */
      plan_id: string;
      /** @description What the plan says, as the product is now. */
      terms: {
        /** @description A decimal as text, such as `12.5`. More decimals than the asset has are refused: USDC has 6, SOL has 9. */
        amount: components['schemas']['Money'];
        /** @description How long a period is. */
        period_hours: number;
        /** @description The payout wallet: nobody else can be paid by this plan. */
        destination: string;
        /** @description The key of this service that collects. It holds no money of yours or of buyers. */
        puller: string;
      };
      /** @description Unsigned, base64: publishes the plan. Sign it with the payout wallet and send it. Absent where nothing is left to sign. */
      transaction?: string;
      /**
       * Format: date-time
       * @description From then on the transaction can land no more.
       */
      expires_at?: string;
    };
    ConfirmSubscriptionPlanRequest: {
      /** @description The signature of the transaction, by which the chain knows it. */
      tx_signature: string;
    };
    PaymentSession: {
      /**
       * Format: uuid
       * @description The id of the payment session.
       */
      payment_session_id: string;
      /**
       * Format: uuid
       * @description The id of the payment. Who knows it may read its state.
       */
      payment_id?: string;
      /**
       * @description How it stands.
       * @enum {string}
       */
      status: 'open' | 'pending_confirmation' | 'completed' | 'failed' | 'expired';
      /** @description Send the buyer here. */
      checkout_url: string;
      /**
       * Format: uuid
       * @description The id of the product.
       */
      product_id: string;
      /** @description What it costs. */
      price: components['schemas']['Money'];
      /**
       * Format: date-time
       * @description When it ends.
       */
      expires_at: string;
      /**
       * Format: date-time
       * @description When it was made.
       */
      created_at: string;
    };
    PaymentSessionRequest: {
      /**
       * Format: uuid
       * @description The id of the product.
       */
      product_id?: string;
      /** @description Your own name of the product, up to 180 characters, unique in its mode. Where a product is named, send this or `product_id`, not both. */
      external_product_id?: string;
      /** @description Your own name for the buyer; keys membership and entitlement. */
      customer_ref?: string;
      /**
       * @description A rail of the hosted checkout, which has to be ready for this product, and is what connect begins with unless it names another asset; by default what a checkout of the product begins with: its default_rail if that can be paid over, else another that can.
       * @enum {string}
       */
      rail_id?: 'solana_usdc' | 'solana_sol' | 'solana_usdc_subscription' | 'x402_solana_usdc' | 'mpp_solana_usdc';
      /**
       * Format: uri
       * @description Where the buyer goes after paying: https, with `payment_id` and `status` added. A hint; check it from your server.
       */
      success_url?: string;
      /**
       * @description Texts of your own, shown to no buyer: up to 50 keys of 40 characters, values of 500. A change merges; null removes a key.
       * @default {}
       */
      metadata?: {
        [key: string]: string;
      };
    };
    SettleResponse: {
      /**
       * @description Whether the payment was settled.
       * @enum {boolean}
       */
      success: true;
      /**
       * @description Another request was told of this success: serve nothing for this one.
       * @enum {boolean}
       */
      duplicate?: true;
      /**
       * Format: uuid
       * @description The id of the payment. Who knows it may read its state.
       */
      payment_id: string;
      /**
       * Format: uuid
       * @description The id of the receipt.
       */
      receipt_id: string;
      /** @description The signature of the transaction, by which the chain knows it. */
      tx_signature: string;
      /** @description The network in CAIP-2. */
      network: string;
      /** @description The wallet that paid. */
      payer: string;
      /** @description What was paid. */
      amount: components['schemas']['Money'];
      /**
       * Format: uuid
       * @description The id of the entitlement: always the same for this customer and product.
       */
      entitlement_id: string;
      /** @description How many units this gave; null: without a limit. */
      granted_units: number | null;
      /** @description How many units were used at once. */
      consumed_units: number;
      /** @description Refund it where the request could not be served. */
      consumption_id?: string;
      /** @description How many units are left; null: without a limit. */
      remaining: number | null;
      /** @description Send it to the buyer as the PAYMENT-RESPONSE header. */
      payment_response: string;
    };
    SettlePending: {
      /**
       * @description Whether the payment was settled.
       * @enum {boolean}
       */
      success: false;
      /**
       * @description Why it is not settled yet.
       * @enum {string}
       */
      error_reason: 'settlement_pending';
      /** @description The signature of the transaction, by which the chain knows it. */
      tx_signature: string;
      /** @description Send the same payment again after so many seconds. */
      retry_after: number;
    };
    SettleRequest: {
      /**
       * Format: uuid
       * @description The id of the product.
       */
      product_id?: string;
      /** @description Your own name of the product, up to 180 characters, unique in its mode. Where a product is named, send this or `product_id`, not both. */
      external_product_id?: string;
      /** @description Value of the buyer’s PAYMENT-SIGNATURE header, as it came. */
      payment_signature: string;
      /** @description Whom it is about: a wallet, or your own name of the customer. Exactly one where it is asked for. */
      customer?: components['schemas']['Customer'];
      /**
       * @description Used in the same step; 422 with `meta.buys_units` above what the payment buys.
       * @default 0
       */
      consume_units?: number;
    };
    Activation: {
      /**
       * @description The plan that runs now.
       * @enum {string}
       */
      plan: 'free' | 'starter' | 'growth' | 'scale';
      /** @description null: the plan has no end, and no purchase moves it. */
      paid_through: string | null;
      /**
       * Format: uuid
       * @description The id of the account.
       */
      account_id: string;
      /**
       * Format: uuid
       * @description The id of the receipt.
       */
      receipt_id: string;
    };
    BillingSummary: {
      /**
       * @description The higher of what runs by card and what was bought by x402.
       * @enum {string}
       */
      plan: 'free' | 'starter' | 'growth' | 'scale';
      /**
       * @description Of the subscription at the payment processor.
       * @enum {string}
       */
      status: 'none' | 'active' | 'trialing' | 'past_due' | 'cancelled';
      /** @description Of the subscription, or of the time that was bought by x402. */
      current_period_end: string | null;
      /** @description True: it ends with the time that is paid. */
      cancel_at_period_end: boolean;
      /**
       * @description What gives the plan: `free`, the card `processor`, or `x402`.
       * @enum {string}
       */
      source: 'free' | 'processor' | 'x402';
      /** @description In live mode. */
      usage: {
        /** @description Active keys. */
        keys: number;
        /** @description Webhook endpoints. */
        endpoints: number;
        /** @description Active products. */
        products: number;
      };
      /** @description What the plan allows. */
      limits: {
        /** @description Active keys. */
        keys: number;
        /** @description Webhook endpoints. */
        endpoints: number;
        /** @description null: without a limit. */
        products: number | null;
      };
    };
    BillingCheckout: {
      /** @description The page to send buyers to. */
      checkout_url: string;
    };
    BillingCheckoutRequest: {
      /**
       * @description The plan: `free`, `starter`, `growth` or `scale`.
       * @enum {string}
       */
      plan: 'starter' | 'growth' | 'scale';
      /** @description Where the buyer goes after paying: https, with `payment_id` and `status` added. A hint; check it from your server. */
      success_url?: string;
      /** @description Where the buyer goes back to without paying: https. */
      cancel_url?: string;
    };
    BillingPortal: {
      /** @description Where card and subscription are changed. */
      portal_url: string;
    };
    BillingPortalRequest: {
      /** @description Where to come back to. */
      return_url?: string;
    };
    ProcessorWebhookResponse: {
      /**
       * @description True: it was stored.
       * @enum {boolean}
       */
      received: true;
      /** @description True where the same event came before. */
      duplicate: boolean;
    };
    FacilitatorSupported: {
      /** @description What can be verified and settled. */
      kinds: {
        /** @description The version of x402: 2. */
        x402Version: number;
        /** @description The scheme of x402: `exact`. */
        scheme: string;
        /** @description The network in CAIP-2. */
        network: string;
        /** @description What the scheme needs besides. */
        extra?: {
          [key: string]: unknown;
        };
      }[];
      /** @description What x402 extensions add. */
      extensions: string[];
      /** @description The wallets that pay the network’s fee, by network. */
      signers: {
        [key: string]: string[];
      };
    };
    FacilitatorVerification: {
      /** @description Whether the payment would be taken. */
      isValid: boolean;
      /** @description Why it would not, in the words of x402. */
      invalidReason?: string;
      /** @description The same for a person to read. */
      invalidMessage?: string;
      /** @description The wallet that paid. */
      payer?: string;
      /** @description What x402 extensions add. */
      extensions?: {
        [key: string]: unknown;
      };
      /** @description What the scheme needs besides. */
      extra?: {
        [key: string]: unknown;
      };
    };
    /** @description The body the reference client of a facilitator sends. */
    FacilitatorRequest: {
      /** @description The version of x402: 2. */
      x402Version: number;
      /** @description What the buyer signed, as x402 defines it. */
      paymentPayload: {
        [key: string]: unknown;
      };
      /** @description What was asked for, as x402 defines it. */
      paymentRequirements: {
        [key: string]: unknown;
      };
    } & {
      [key: string]: unknown;
    };
    FacilitatorSettlement: {
      /** @description Whether the payment was settled. */
      success: boolean;
      /** @description Why it failed, in the words of x402. */
      errorReason?: string;
      /** @description The same for a person to read. */
      errorMessage?: string;
      /** @description The wallet that paid. */
      payer?: string;
      /** @description The signature of the transaction, empty where there is none. */
      transaction: string;
      /** @description The network in CAIP-2. */
      network: string;
      /** @description A decimal as text, such as `12.5`. More decimals than the asset has are refused: USDC has 6, SOL has 9. */
      amount?: string;
      /** @description What x402 extensions add. */
      extensions?: {
        [key: string]: unknown;
      };
      /** @description What the scheme needs besides. */
      extra?: {
        [key: string]: unknown;
      };
    };
    MeteredSessionRequest: {
      /**
       * Format: uuid
       * @description The id of the product.
       */
      product_id?: string;
      /** @description Your own name of the product, up to 180 characters, unique in its mode. Where a product is named, send this or `product_id`, not both. */
      external_product_id?: string;
      /** @description Whom it is about: a wallet, or your own name of the customer. Exactly one where it is asked for. */
      customer?: components['schemas']['Customer'];
      /** @description The most that a buyer may lock up in the channel. */
      cap: components['schemas']['UsdcInput'];
      /** @description What one unit costs, for deliveries that are counted in units. */
      unit_price?: components['schemas']['UsdcInput'] & unknown;
      /** @description The least by which a voucher goes beyond the one before. */
      min_voucher_delta?: components['schemas']['UsdcInput'] & unknown;
      /** @description Closed when it was not used for so long and nothing is reserved; 3600. */
      idle_timeout_seconds?: number;
      /** @description The least that the channel gives us to settle after its payer asks to close; 900. */
      grace_period_seconds?: number;
      /** @description Address of the payment-channels program, of those we open. */
      channel_program?: string;
    };
    /** @description The most that the buyer may lock up. */
    UsdcInput: {
      /**
       * @description `USDC` or `SOL`.
       * @enum {string}
       */
      asset: 'USDC' | 'SOL';
      /** @description A decimal as text, such as `12.5`. More decimals than the asset has are refused: USDC has 6, SOL has 9. */
      amount: string;
    };
    MeteringDirective: {
      /** @description Base units. */
      amount: string;
      /** @description Mint. */
      currency: string;
      /** @description The id of the delivery that is paid for. */
      deliveryId: string;
      /** @description Unix seconds. */
      expiresAt: number;
      /** @description The number of the delivery in its session. */
      sequence: number;
      /** @description Address of the channel. */
      sessionId: string;
      /** @description Where the voucher for this delivery goes. */
      commitUrl: string;
      /** @description The id of the session. */
      session_id: string;
    };
    MeteredDeliveryRequest: {
      /** @description By default named by us. */
      delivery_id?: string;
      /** @description A decimal as text, such as `12.5`. More decimals than the asset has are refused: USDC has 6, SOL has 9. */
      amount?: components['schemas']['UsdcInput'];
      /** @description At the session’s unit_price. */
      units?: number;
      /** @description Seconds it is kept free; 600. */
      expires_in?: number;
    };
    CommitReceipt: {
      /** @description What this delivery was paid with, in base units. */
      amount: string;
      /** @description The amount that the voucher promises in all, in base units. */
      cumulative: string;
      /** @description The id of the delivery that is paid for. */
      deliveryId: string;
      /** @description The session, as its protocol names it: the address of the channel. */
      sessionId: string;
      /**
       * @description How it stands.
       * @enum {string}
       */
      status: 'committed' | 'replayed';
      /** @description The id of the session. */
      session_id: string;
    };
    MeteredCommitRequest: {
      /** @description The id of the delivery that is paid for. */
      deliveryId: string;
      /** @description A promise of an amount in all, signed by the key of the channel. */
      voucher?: {
        /** @description What it happened to. */
        data: {
          /** @description The address of the channel. */
          channelId: string;
          /** @description The amount that is promised in all, in base units. */
          cumulativeAmount: string;
          /** @description Until when the voucher holds, in Unix seconds; 0: without an end. */
          expiresAt: number;
          /** @description The part of the memo that is this payment’s own. */
          nonce?: number;
        } & {
          [key: string]: unknown;
        };
        /** @description The Ed25519 signature over the voucher’s bytes, base58. */
        signature: string;
      } & {
        [key: string]: unknown;
      };
    } & {
      [key: string]: unknown;
    };
    NativeSubscriptionPage: {
      /** @description The entries of this page. */
      items: components['schemas']['NativeSubscription'][];
      /** @description The number of this page, from 1. */
      page: number;
      /** @description How many entries a page has at most. */
      per_page: number;
      /** @description Number of entries on all pages. Exact up to 10,000, with some filters up to 2,000: the description of each list names them. */
      total: number;
      /** @description How many pages there are. */
      total_pages: number;
      /** @description Whether another page follows. */
      has_more: boolean;
      /**
       * @description False if the list has more entries than `total`.
       * @enum {boolean}
       */
      total_exact?: false;
    };
    CancelIntent: {
      /** @description Unsigned, base64. Sign it with the wallet, then send it, or have us send it. */
      transaction: string;
      /**
       * Format: date-time
       * @description From then on it can land no more.
       */
      expires_at: string;
      /**
       * Format: date-time
       * @description From then on nothing can be collected.
       */
      effective_at: string;
    };
    CancelIntentRequest: {
      /** @description The wallet that subscribed. */
      wallet_address: string;
    };
    CancelProof: {
      /** @description Of a transaction that landed, or is about to. */
      tx_signature?: string;
      /** @description Signed; we send it. */
      transaction?: string;
    };
    CreatedSetupIntent: components['schemas']['SetupIntent'] & {
      /** @description Shown once, here. It opens this setup and pays for its plan. */
      setup_secret: string;
      /** @description Shown once, here. */
      sandbox_api_key: string;
    };
    SetupManifest: {
      /**
       * @description The form of the manifest: `1`.
       * @enum {string}
       */
      manifest_version: '1';
      /** @description A name. */
      name: string;
      /** @description A description. */
      description?: string;
      /** @description A public https URL. It is never fetched. */
      homepage_url?: string;
      /** @description How the agent’s people are reached. */
      contact_email?: string;
      /**
       * @description What is sold, by address. Never fetched.
       * @default []
       */
      resources?: {
        /** @description The HTTP method. */
        method: string;
        /** @description A public https URL. It is never fetched. */
        url: string;
        /** @description external_product_id or name of one of `products`. */
        product_ref: string;
        /**
         * @description Units one call uses.
         * @default 1
         */
        units?: number;
      }[];
      /**
       * @description What is to be sold.
       * @default []
       */
      products?: {
        /** @description Your own name of the product, up to 180 characters, unique in its mode. Where a product is named, send this or `product_id`, not both. */
        external_product_id?: string;
        /** @description A name. */
        name: string;
        /** @description A description. */
        description?: string;
        /** @description What it costs. */
        price: {
          /** @description `USDC` or `SOL`. */
          asset: string;
          /** @description A decimal as text, such as `12.5`. More decimals than the asset has are refused: USDC has 6, SOL has 9. */
          amount: string;
        };
        /** @description How many units a purchase gives; null: without a limit. Of an `api` product 1 by default, else null. To sell 30 days of an API, send null. */
        usage_units?: number;
        /** @description For how many days a purchase gives access; null: without a time limit. Of an `api` product null by default, else 30, and 30 of all that renews itself. */
        access_period_days?: number;
      }[];
      /** @description Where the money goes. */
      payout?: {
        /** @description The way of being paid; GET /v1/access/rails lists them. */
        rail_id: string;
        /** @description The address of a Solana wallet. */
        wallet_address: string;
      };
      /**
       * @description Webhook endpoints it wants.
       * @default []
       */
      webhooks?: {
        /** @description A public https URL. It is never fetched. */
        url: string;
        /** @description Which events are sent: `payment.confirmed`, a group as `payment.*`, or `*`. GET /v1/webhooks/event-types lists them. */
        event_types: string[];
      }[];
      /**
       * @description What the live key may do: read, execute.
       * @default [
       *       "read",
       *       "execute"
       *     ]
       */
      requested_permissions?: string[];
      /**
       * @description In USDC. Bind what is paid with the setup secret, by the day of UTC.
       * @default {}
       */
      spend_limits?: {
        /** @description The most for one payment. */
        per_payment?: {
          /** @description `USDC` or `SOL`. */
          asset: string;
          /** @description A decimal as text, such as `12.5`. More decimals than the asset has are refused: USDC has 6, SOL has 9. */
          amount: string;
        };
        /** @description The most on one day (UTC). */
        per_day?: {
          /** @description `USDC` or `SOL`. */
          asset: string;
          /** @description A decimal as text, such as `12.5`. More decimals than the asset has are refused: USDC has 6, SOL has 9. */
          amount: string;
        };
      };
      /**
       * @description Whether a live key is wanted.
       * @default false
       */
      live_requested?: boolean;
    };
    SetupEvaluation: {
      /** @description 0 to 100. */
      score: number;
      /** @description What was found; mend those of severity `error`. */
      findings: {
        /**
         * @description A manifest with an error is sent back for changes.
         * @enum {string}
         */
        severity: 'error' | 'warning' | 'info';
        /** @description What it is, for a program: branch on this. */
        code: string;
        /** @description Where it stands in the manifest. */
        path: string;
        /** @description What it says. */
        message: string;
        /** @description How to mend it. */
        suggestion: string;
      }[];
    };
    NextAction: {
      /** @description What to do. */
      action: string;
      /**
       * @description The HTTP method.
       * @enum {string}
       */
      method: 'GET' | 'POST' | 'PUT';
      /** @description A path. */
      path: string;
      /** @description A description. */
      description: string;
      /** @description The headers to send. */
      headers?: {
        [key: string]: string;
      };
      /** @description The body to send. */
      body?: {
        [key: string]: unknown;
      };
    };
    SetupIntent: {
      /**
       * Format: uuid
       * @description The id of the setup.
       */
      setup_intent_id: string;
      /**
       * @description How it stands.
       * @enum {string}
       */
      status: 'created' | 'changes_required' | 'ready' | 'approved' | 'expired';
      /** @description What the agent is called. */
      agent_name: string;
      /** @description How the agent’s people are reached. */
      operator_contact?: string;
      /** @description What the agent wants to do. */
      intended_use?: string;
      /**
       * Format: uuid
       * @description The id of the account.
       */
      account_id: string;
      /**
       * @description The plan that was asked for.
       * @enum {string}
       */
      plan?: 'free' | 'starter' | 'growth' | 'scale';
      /**
       * @description The plan that counts now.
       * @enum {string}
       */
      active_plan: 'free' | 'starter' | 'growth' | 'scale';
      /**
       * Format: date-time
       * @description Until when the plan is paid.
       */
      plan_paid_through?: string;
      /**
       * Format: uuid
       * @description The id of the sandbox key.
       */
      sandbox_key_id: string;
      /**
       * Format: uuid
       * @description The live key this setup issued last.
       */
      live_key_id?: string;
      /** @description Whether a live key was made and works. */
      live_key_active: boolean;
      /** @description Bind what is paid with the setup secret. */
      spend_limits: {
        /** @description The most for one payment. */
        per_payment?: components['schemas']['Money'];
        /** @description The most on one day (UTC). */
        per_day?: components['schemas']['Money'];
      };
      /** @description What the agent said it sells. */
      manifest?: components['schemas']['SetupManifest'];
      /** @description What the manifest was found to be. */
      evaluation?: components['schemas']['SetupEvaluation'];
      /**
       * Format: date-time
       * @description When it was approved.
       */
      approved_at?: string;
      /**
       * Format: date-time
       * @description Absent once a plan was activated: then it stays.
       */
      expires_at?: string;
      /** @description Paid, and not decided by the chain yet. Until it is, the setup does not end: never pay again. */
      pending_payments?: {
        /**
         * @description The plan: `free`, `starter`, `growth` or `scale`.
         * @enum {string}
         */
        plan?: 'free' | 'starter' | 'growth' | 'scale';
        /** @description A decimal as text, such as `12.5`. More decimals than the asset has are refused: USDC has 6, SOL has 9. */
        amount: components['schemas']['Money'];
        /** @description The signature of the transaction, by which the chain knows it. */
        tx_signature: string;
        /**
         * Format: date-time
         * @description When it was made.
         */
        created_at: string;
      }[];
      /** @description What to do now, in this order. */
      next_actions: components['schemas']['NextAction'][];
      /**
       * Format: date-time
       * @description When it was made.
       */
      created_at: string;
      /**
       * Format: date-time
       * @description When it last changed.
       */
      updated_at: string;
    };
    CreateSetupIntentRequest: {
      /** @description What the agent is called. */
      agent_name: string;
      /** @description How the agent’s people are reached. */
      operator_contact?: string;
      /** @description What the agent wants to do. */
      intended_use?: string;
      /**
       * @description The plan you mean to buy.
       * @enum {string}
       */
      plan?: 'free' | 'starter' | 'growth' | 'scale';
    };
    SetupIntentStatusRequest: {
      /** @description As it was shown when the setup was created. */
      setup_secret: string;
    };
    SetupManifestRequest: {
      /** @description As it was shown when the setup was created. */
      setup_secret: string;
      /**
       * @description The form of the manifest: `1`.
       * @enum {string}
       */
      manifest_version: '1';
      /** @description A name. */
      name: string;
      /** @description A description. */
      description?: string;
      /** @description A public https URL. It is never fetched. */
      homepage_url?: string;
      /** @description How the agent’s people are reached. */
      contact_email?: string;
      /**
       * @description What is sold, by address. Never fetched.
       * @default []
       */
      resources?: {
        /** @description The HTTP method. */
        method: string;
        /** @description A public https URL. It is never fetched. */
        url: string;
        /** @description external_product_id or name of one of `products`. */
        product_ref: string;
        /**
         * @description Units one call uses.
         * @default 1
         */
        units?: number;
      }[];
      /**
       * @description What is to be sold.
       * @default []
       */
      products?: {
        /** @description Your own name of the product, up to 180 characters, unique in its mode. Where a product is named, send this or `product_id`, not both. */
        external_product_id?: string;
        /** @description A name. */
        name: string;
        /** @description A description. */
        description?: string;
        /** @description What it costs. */
        price: {
          /** @description `USDC` or `SOL`. */
          asset: string;
          /** @description A decimal as text, such as `12.5`. More decimals than the asset has are refused: USDC has 6, SOL has 9. */
          amount: string;
        };
        /** @description How many units a purchase gives; null: without a limit. Of an `api` product 1 by default, else null. To sell 30 days of an API, send null. */
        usage_units?: number;
        /** @description For how many days a purchase gives access; null: without a time limit. Of an `api` product null by default, else 30, and 30 of all that renews itself. */
        access_period_days?: number;
      }[];
      /** @description Where the money goes. */
      payout?: {
        /** @description The way of being paid; GET /v1/access/rails lists them. */
        rail_id: string;
        /** @description The address of a Solana wallet. */
        wallet_address: string;
      };
      /**
       * @description Webhook endpoints it wants.
       * @default []
       */
      webhooks?: {
        /** @description A public https URL. It is never fetched. */
        url: string;
        /** @description Which events are sent: `payment.confirmed`, a group as `payment.*`, or `*`. GET /v1/webhooks/event-types lists them. */
        event_types: string[];
      }[];
      /**
       * @description What the live key may do: read, execute.
       * @default [
       *       "read",
       *       "execute"
       *     ]
       */
      requested_permissions?: string[];
      /**
       * @description In USDC. Bind what is paid with the setup secret, by the day of UTC.
       * @default {}
       */
      spend_limits?: {
        /** @description The most for one payment. */
        per_payment?: {
          /** @description `USDC` or `SOL`. */
          asset: string;
          /** @description A decimal as text, such as `12.5`. More decimals than the asset has are refused: USDC has 6, SOL has 9. */
          amount: string;
        };
        /** @description The most on one day (UTC). */
        per_day?: {
          /** @description `USDC` or `SOL`. */
          asset: string;
          /** @description A decimal as text, such as `12.5`. More decimals than the asset has are refused: USDC has 6, SOL has 9. */
          amount: string;
        };
      };
      /**
       * @description Whether a live key is wanted.
       * @default false
       */
      live_requested?: boolean;
    };
    ApprovedSetupIntent: components['schemas']['SetupIntent'] & {
      /** @description Shown once, in the answer that issued it. */
      live_api_key?: string;
    };
    ApproveSetupIntentRequest: {
      /** @description As it was shown when the setup was created. */
      setup_secret: string;
      /**
       * @description True: make a live key; it needs a paid plan.
       * @default false
       */
      issue_live_key?: boolean;
      /**
       * @description Must be true to issue a live key.
       * @default false
       */
      live_mode_confirmed?: boolean;
      /**
       * Format: uuid
       * @description Revokes this live key of the setup, for an answer that was lost or a key that leaked. With issue_live_key another takes its place; without it none does.
       */
      replace_live_key_id?: string;
    };
    /** @description `expected`: the types of its events, in the order in which they are recorded. */
    SandboxScenarios: {
      /** @description The entries of this page. */
      items: {
        /** @description What is played. */
        scenario: string;
        /** @description A description. */
        description: string;
        /** @description What can be chosen. */
        options: string[];
        /** @description The event types it leads to, in order. */
        expected: string[];
      }[];
    };
    SandboxSession: {
      /**
       * Format: uuid
       * @description The id of the session.
       */
      session_id: string;
      /** @description What is played. */
      scenario: string;
      /**
       * @description How it stands.
       * @enum {string}
       */
      status: 'running' | 'completed' | 'failed';
      /**
       * @description True of real money, false of the sandbox.
       * @enum {boolean}
       */
      livemode: false;
      /** @description The same seed gives the same story. */
      seed: string;
      /** @description Stands still between moves. */
      clock: {
        /**
         * Format: date-time
         * @description What time it is there.
         */
        now: string;
        /** @description How far its clock was moved on. */
        advanced_seconds: number;
      };
      /** @description What the session made. */
      objects: {
        /** @description Of which type it is. */
        type: string;
        /** @description Its id. */
        id: string;
      }[];
      /** @description What happened, in order. */
      steps: {
        /**
         * Format: date-time
         * @description When it happened.
         */
        at: string;
        /** @description What was done. */
        action: string;
        /** @description The object as its GET answers it. */
        object?: {
          /** @description Of which type it is. */
          type: string;
          /** @description Its id. */
          id: string;
        };
        /** @description The state the object has now. */
        state?: string;
        /** @description The id of the event: be idempotent on it. */
        event_id?: string;
        /** @description The type of the event, such as `payment.confirmed`. */
        event_type?: string;
      }[];
      /** @description How delivering the session’s events stands. */
      deliveries: {
        /** @description How many attempts were made. */
        sent: number;
        /** @description How many arrived. */
        succeeded: number;
        /** @description How many did not arrive. */
        failed: number;
      };
      /**
       * Format: date-time
       * @description When it was made.
       */
      created_at: string;
    };
    SandboxSessionRequest: {
      /** @description One of GET /v1/testing/scenarios. */
      scenario: string;
      /** @description Sessions of one scenario and seed go through the same steps in the same order. */
      seed?: string;
      /**
       * Format: uuid
       * @description What is sold; by default the session makes a product for itself.
       */
      product_id?: string;
      /**
       * Format: uuid
       * @description The only endpoint that hears of it; by default all of your sandbox.
       */
      endpoint_id?: string;
      /** @description Moves the clock once more after the scenario. */
      advance_seconds?: number;
      /**
       * @description What is chosen of it.
       * @default {}
       */
      options?: {
        /** @description A decimal as text, such as `12.5`. More decimals than the asset has are refused: USDC has 6, SOL has 9. */
        amount?: {
          /**
           * @description `USDC` or `SOL`.
           * @enum {string}
           */
          asset: 'USDC' | 'SOL';
          /** @description A decimal as text, such as `12.5`. More decimals than the asset has are refused: USDC has 6, SOL has 9. */
          amount: string;
          /** @description The same amount in the smallest units of the asset, an integer as text. */
          base_units?: string;
        };
        /** @description How late it happens. */
        delay_seconds?: number;
        /**
         * @description What goes wrong.
         * @enum {string}
         */
        failure?: 'transaction_failed' | 'session_expired';
      };
    };
    SandboxSessions: {
      /** @description The entries of this page. */
      items: components['schemas']['SandboxSession'][];
    };
    AdvanceRequest: {
      /** @description How far to move the clock on. */
      seconds: number;
    };
    TestPayment: {
      /** @description The signature of the transaction, by which the chain knows it. */
      tx_signature?: string;
      /** @description The value for the PAYMENT-SIGNATURE header. */
      payment_signature?: string;
      /** @description A Solana transaction in base64. One that we hand out is unsigned. */
      transaction?: string;
      /** @description The wallet that paid. */
      payer_wallet: string;
    };
    TestPaymentRequest: {
      /**
       * Format: uuid
       * @description The id of the payment. Who knows it may read its state.
       */
      payment_id?: string;
      /** @description A challenge of x402: the value of PAYMENT-REQUIRED, or the object in it. */
      payment_required?:
        | string
        | {
            [key: string]: unknown;
          };
      /** @description Signed as a test wallet. Sent to the simulated chain once nobody else has to sign; otherwise only signed. */
      transaction?: string;
      /**
       * @description How the test wallet pays: `paid` by default.
       * @default paid
       * @enum {string}
       */
      outcome?: 'paid' | 'underpaid' | 'declined' | 'late' | 'overpaid';
      /** @description A name for a test wallet that lasts; without one it is another each time. */
      wallet?: string;
    };
    CompletedTestIdentity: {
      /**
       * Format: uuid
       * @description The id under which a buyer shows who they are.
       */
      identity_session_id: string;
      /**
       * @description Who it is done with.
       * @enum {string}
       */
      provider: 'telegram' | 'discord';
      /** @description The buyer’s id on that platform. */
      provider_user_id: string;
      /**
       * @description How it stands.
       * @enum {string}
       */
      status: 'completed';
    };
    TestIdentity: {
      /**
       * Format: uuid
       * @description The id under which a buyer shows who they are.
       */
      identity_session_id: string;
      /** @description The buyer’s id on that platform. */
      provider_user_id: string;
      /** @description The buyer’s name there. */
      username?: string;
    };
    EventType: {
      /**
       * @description Of which type it is.
       * @enum {string}
       */
      type:
        | 'payment.created'
        | 'payment.submitted'
        | 'payment.confirmed'
        | 'payment.finalized'
        | 'payment.failed'
        | 'payment.unmatched'
        | 'payment.orphaned'
        | 'payment.refunded'
        | 'receipt.created'
        | 'receipt.proof_sent'
        | 'membership.activated'
        | 'membership.renewed'
        | 'membership.grace_started'
        | 'membership.expired'
        | 'membership.access_revoked'
        | 'membership.cancelled'
        | 'delivery.succeeded'
        | 'delivery.failed'
        | 'subscription.authorized'
        | 'subscription.renewed'
        | 'subscription.past_due'
        | 'subscription.cancel_requested'
        | 'subscription.cancelled'
        | 'subscription.requires_reapproval'
        | 'entitlement.granted'
        | 'entitlement.exhausted'
        | 'entitlement.expired'
        | 'metered_session.opened'
        | 'metered_session.committed'
        | 'metered_session.closed'
        | 'support.ticket_created'
        | 'support.message_added'
        | 'support.ticket_updated'
        | 'support.ticket_closed'
        | 'payout.changed'
        | 'webhook.test'
        | 'webhook.endpoint_failing'
        | 'webhook.endpoint_disabled';
      /** @description A description. */
      description: string;
      /** @description JSON Schema of the event. */
      schema: {
        [key: string]: unknown;
      };
      /** @description An event of this type. */
      example: {
        [key: string]: unknown;
      };
    };
    WebhookTestResult: {
      /** @description The id of the delivery. */
      delivery_id: number;
      /** @description The id of the event: be idempotent on it. */
      event_id: string;
      /** @description Whether it arrived. */
      succeeded: boolean;
      /** @description What your server answered. */
      response_status?: number;
      /** @description How long your server took. */
      response_ms?: number;
      /** @description Why the attempt failed, where no answer came. */
      error?: string;
    };
    TestWebhookRequest: {
      /**
       * @description Any type of the catalog.
       * @default webhook.test
       * @enum {string}
       */
      event_type?:
        | 'payment.created'
        | 'payment.submitted'
        | 'payment.confirmed'
        | 'payment.finalized'
        | 'payment.failed'
        | 'payment.unmatched'
        | 'payment.orphaned'
        | 'payment.refunded'
        | 'receipt.created'
        | 'receipt.proof_sent'
        | 'membership.activated'
        | 'membership.renewed'
        | 'membership.grace_started'
        | 'membership.expired'
        | 'membership.access_revoked'
        | 'membership.cancelled'
        | 'delivery.succeeded'
        | 'delivery.failed'
        | 'subscription.authorized'
        | 'subscription.renewed'
        | 'subscription.past_due'
        | 'subscription.cancel_requested'
        | 'subscription.cancelled'
        | 'subscription.requires_reapproval'
        | 'entitlement.granted'
        | 'entitlement.exhausted'
        | 'entitlement.expired'
        | 'metered_session.opened'
        | 'metered_session.committed'
        | 'metered_session.closed'
        | 'support.ticket_created'
        | 'support.message_added'
        | 'support.ticket_updated'
        | 'support.ticket_closed'
        | 'payout.changed'
        | 'webhook.test'
        | 'webhook.endpoint_failing'
        | 'webhook.endpoint_disabled';
    };
    ReceiptKeySet: {
      /** @description The public keys, as a JWK set. */
      keys: {
        /**
         * @description The type of the key (JWK).
         * @enum {string}
         */
        kty: 'OKP';
        /**
         * @description The curve of the key (JWK).
         * @enum {string}
         */
        crv: 'Ed25519';
        /** @description The public key (JWK). */
        x: string;
        /** @description The id of the key (JWK). */
        kid: string;
        /**
         * @description What the key is for (JWK).
         * @enum {string}
         */
        use: 'sig';
        /**
         * @description The algorithm of the key (JWK).
         * @enum {string}
         */
        alg: 'EdDSA';
      }[];
    };
    MeteredAnnouncement: {
      /** @description A decimal as text, such as `12.5`. More decimals than the asset has are refused: USDC has 6, SOL has 9. */
      amount: string;
      /** @description The id of the delivery that is paid for. */
      deliveryId?: string;
      /** @description Address of the channel. */
      sessionId: string;
    } & {
      [key: string]: unknown;
    };
    HealthResponse: {
      /**
       * @description How it stands.
       * @enum {string}
       */
      status: 'ok' | 'degraded';
      /** @description The version of the API. */
      version: string;
      /**
       * Format: date-time
       * @description What time it is here.
       */
      time: string;
      /** @description What was looked at. */
      checks: {
        /**
         * @description Whether the database answers.
         * @enum {string}
         */
        database: 'ok' | 'failing' | 'not_configured';
        /**
         * @description Whether nothing waits too long.
         * @enum {string}
         */
        queue: 'ok' | 'failing' | 'not_configured';
        /**
         * @description Whether the Solana node answers.
         * @enum {string}
         */
        rpc: 'ok' | 'failing' | 'not_configured';
        /**
         * @description Whether there is a fresh price of SOL.
         * @enum {string}
         */
        price_source: 'ok' | 'failing' | 'not_configured';
        /**
         * @description Whether the payment processor answers.
         * @enum {string}
         */
        processor: 'ok' | 'failing' | 'not_configured';
        /**
         * @description failing: an e-mail has been due for half an hour; what the operator switched off is not.
         * @enum {string}
         */
        mail: 'ok' | 'failing' | 'not_configured';
        /**
         * @description failing: every other route answers 503 `misconfigured`.
         * @enum {string}
         */
        configuration: 'ok' | 'failing' | 'not_configured';
        /**
         * @description failing: an open payment, channel or subscription names a key that this deployment lacks.
         * @enum {string}
         */
        keys: 'ok' | 'failing' | 'not_configured';
        /**
         * @description failing: more left it within the last hour than the operator expects.
         * @enum {string}
         */
        fee_payer: 'ok' | 'failing' | 'not_configured';
      };
      /** @description How full the database is, from 0 to 1; from 0.7 on the status is degraded. null where it does not answer. */
      database_used: number | null;
      /** @description null where the configuration as a whole is not sound. */
      not_configured: components['schemas']['Unconfigured'] | null;
    };
  };
  responses: never;
  parameters: never;
  requestBodies: never;
  headers: never;
  pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
  register: {
    parameters: {
      query?: never;
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['RegisterRequest'];
      };
    };
    responses: {
      /** @description The account exists; this is its session */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AuthResponse'];
        };
      };
    };
  };
  login: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['LoginRequest'];
      };
    };
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AuthResponse'];
        };
      };
    };
  };
  createWalletNonce: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['WalletNonceRequest'];
      };
    };
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['WalletNonce'];
        };
      };
    };
  };
  loginWithWallet: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['WalletLoginRequest'];
      };
    };
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AuthResponse'];
        };
      };
    };
  };
  refreshToken: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: {
      content: {
        'application/json': components['schemas']['RefreshRequest'];
      };
    };
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AuthResponse'];
        };
      };
    };
  };
  logout: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['DetailResponse'];
        };
      };
    };
  };
  sendVerification: {
    parameters: {
      query?: never;
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Taken */
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['DetailResponse'];
        };
      };
    };
  };
  verifyEmail: {
    parameters: {
      query?: never;
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['VerifyEmailRequest'];
      };
    };
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['DetailResponse'];
        };
      };
    };
  };
  previewVerification: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['PreviewVerificationRequest'];
      };
    };
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['VerificationPreview'];
        };
      };
    };
  };
  disownEmail: {
    parameters: {
      query?: never;
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['DisownEmailRequest'];
      };
    };
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['DetailResponse'];
        };
      };
    };
  };
  forgotPassword: {
    parameters: {
      query?: never;
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['ForgotPasswordRequest'];
      };
    };
    responses: {
      /** @description Taken */
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['DetailResponse'];
        };
      };
    };
  };
  resetPassword: {
    parameters: {
      query?: never;
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['ResetPasswordRequest'];
      };
    };
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['DetailResponse'];
        };
      };
    };
  };
  listOAuthProviders: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['OAuthProviders'];
        };
      };
    };
  };
  startOAuth: {
    parameters: {
      query?: {
        /** @description `live` or `sandbox`. */
        mode?: 'login' | 'register';
        /** @description The path of this site to come back to. */
        next?: string;
        /** @description Which page began it. */
        surface?: 'dashboard' | 'checkout';
      };
      header?: never;
      path: {
        /** @description Who it is done with. */
        provider: 'google' | 'github';
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['OAuthStart'];
        };
      };
    };
  };
  finishOAuth: {
    parameters: {
      query?: {
        /** @description What the provider sends back. */
        code?: string;
        /** @description What was sent along. */
        state?: string;
        /** @description What the provider says went wrong. */
        error?: string;
        /** @description The same for a person. */
        error_description?: string;
      };
      header?: never;
      path: {
        /** @description Who it is done with. */
        provider: 'google' | 'github';
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description To `next`, with the outcome in the fragment */
      302: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  listIdentities: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SignInIdentities'];
        };
      };
    };
  };
  unlinkIdentity: {
    parameters: {
      query?: never;
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description Who it is done with. */
        provider: 'google' | 'github';
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Unlinked */
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  getAccount: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Account'];
        };
      };
    };
  };
  updateAccount: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['UpdateAccountRequest'];
      };
    };
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['UpdateResponse'];
        };
      };
    };
  };
  changeSecurity: {
    parameters: {
      query?: never;
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['ChangeSecurityRequest'];
      };
    };
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['UpdateResponse'];
        };
      };
    };
  };
  deleteAccount: {
    parameters: {
      query?: never;
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['DetailResponse'];
        };
      };
    };
  };
  getDomain: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SellerDomain'];
        };
      };
    };
  };
  setDomain: {
    parameters: {
      query?: never;
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['SetDomainRequest'];
      };
    };
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SellerDomain'];
        };
      };
    };
  };
  deleteDomain: {
    parameters: {
      query?: never;
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Removed */
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  getDeliveryReadiness: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['DeliveryReadiness'];
        };
      };
    };
  };
  testDelivery: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['DeliveryTestRequest'];
      };
    };
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['DeliveryTest'];
        };
      };
    };
  };
  listCommunityClaims: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['CommunityClaims'];
        };
      };
    };
  };
  beginCommunityClaim: {
    parameters: {
      query?: never;
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['BeginClaimRequest'];
      };
    };
    responses: {
      /** @description Created */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['BegunClaim'];
        };
      };
    };
  };
  deleteCommunityClaim: {
    parameters: {
      query?: never;
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description The id of the claim. */
        claim_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Given back */
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  completeCommunityClaim: {
    parameters: {
      query?: never;
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description Who it is done with. */
        provider: 'telegram' | 'discord';
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['ConnectorClaim'];
      };
    };
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['CommunityClaim'];
        };
      };
    };
  };
  getAccountSummary: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AccountSummary'];
        };
      };
    };
  };
  getAnalytics: {
    parameters: {
      query?: {
        /** @description How many days back, where no dates are given. */
        window_days?: number;
        /** @description How many of the last days stand in `daily`. */
        daily_days?: number;
        /** @description The first day, as `2026-11-21`. */
        start_date?: string;
        /** @description The last day, as `2026-11-21`. */
        end_date?: string;
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Analytics'];
        };
      };
    };
  };
  exportAnalytics: {
    parameters: {
      query?: {
        /** @description How many days back, where no dates are given. */
        window_days?: number;
        /** @description How many of the last days stand in `daily`. */
        daily_days?: number;
        /** @description The first day, as `2026-11-21`. */
        start_date?: string;
        /** @description The last day, as `2026-11-21`. */
        end_date?: string;
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description One line a day, the oldest first */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'text/csv': string;
        };
      };
    };
  };
  listKeys: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ApiKey'][];
        };
      };
    };
  };
  createKey: {
    parameters: {
      query?: never;
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['CreateKeyRequest'];
      };
    };
    responses: {
      /** @description Created */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['CreatedApiKey'];
        };
      };
    };
  };
  listKeyResources: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: never;
      path: {
        /** @description The id of the key. */
        key_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['KeyResources'];
        };
      };
    };
  };
  revokeKey: {
    parameters: {
      query?: {
        /** @description `endpoints`: also disable what the key made. */
        with?: 'endpoints';
      };
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description The id of the key. */
        key_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Revoked */
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  getOffer: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description The last part of the checkout page’s address: small letters, digits and hyphens. Made from the name where it is not given. */
        slug: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Offer'];
        };
      };
    };
  };
  listProducts: {
    parameters: {
      query?: {
        /** @description The number of the page, from 1. */
        page?: number;
        /** @description How many entries a page has. */
        per_page?: number;
        /** @description Only what stands so. */
        status?: 'active' | 'archived';
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ProductPage'];
        };
      };
    };
  };
  createProduct: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['CreateProductRequest'];
      };
    };
    responses: {
      /** @description Created */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['CreatedProduct'];
        };
      };
    };
  };
  getProduct: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: never;
      path: {
        /** @description Of this product. */
        product_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Product'];
        };
      };
    };
  };
  updateProduct: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description Of this product. */
        product_id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['UpdateProductRequest'];
      };
    };
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Product'];
        };
      };
    };
  };
  archiveProduct: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description Of this product. */
        product_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Product'];
        };
      };
    };
  };
  unarchiveProduct: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description Of this product. */
        product_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Product'];
        };
      };
    };
  };
  connectBuyer: {
    parameters: {
      query?: never;
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description The last part of the checkout page’s address: small letters, digits and hyphens. Made from the name where it is not given. */
        slug: string;
      };
      cookie?: never;
    };
    requestBody?: {
      content: {
        'application/json': components['schemas']['ConnectRequest'];
      };
    };
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ConnectResponse'] | components['schemas']['IdentityNeeded'];
        };
      };
    };
  };
  getSolanaPay: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description The id of the payment. */
        payment_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SolanaPayLabel'];
        };
      };
    };
  };
  postSolanaPay: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description The id of the payment. */
        payment_id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['SolanaPayRequest'];
      };
    };
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SolanaPayTransaction'];
        };
      };
    };
  };
  sendTransaction: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description The id of the payment. */
        payment_id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['SendTransactionRequest'];
      };
    };
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SendTransactionResponse'];
        };
      };
    };
  };
  createHandoff: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description Of this product. */
        product_id: string;
      };
      cookie?: never;
    };
    requestBody?: {
      content: {
        'application/json': components['schemas']['HandoffRequest'];
      };
    };
    responses: {
      /** @description Created */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Handoff'];
        };
      };
    };
  };
  resolveHandoff: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description The last part of the checkout page’s address: small letters, digits and hyphens. Made from the name where it is not given. */
        slug: string;
        /** @description The token of the hand-off. */
        token: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ResolvedHandoff'];
        };
      };
    };
  };
  openIdentitySession: {
    parameters: {
      query?: never;
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description The last part of the checkout page’s address: small letters, digits and hyphens. Made from the name where it is not given. */
        slug: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Created */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['IdentitySession'];
        };
      };
    };
  };
  completeIdentity: {
    parameters: {
      query?: never;
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description Who it is done with. */
        provider: 'telegram' | 'discord';
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['ConnectorIdentity'];
      };
    };
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['CompletedIdentity'];
        };
      };
    };
  };
  listPayments: {
    parameters: {
      query?: {
        /** @description The number of the page, from 1. */
        page?: number;
        /** @description How many entries a page has. */
        per_page?: number;
        /** @description Only what stands so. */
        status?: 'PENDING_SIGNATURE' | 'PENDING_CONFIRMATION' | 'CONFIRMED' | 'FAILED';
        /** @description Of this product. */
        product_id?: string;
        /** @description Of the customer you gave this name. */
        customer_ref?: string;
        /** @description The wallet that paid. */
        wallet?: string;
        /** @description Paid by this transaction. */
        tx_signature?: string;
        /** @description The rail. */
        rail_id?: 'solana_usdc' | 'solana_sol' | 'solana_usdc_subscription' | 'x402_solana_usdc' | 'mpp_solana_usdc';
        /** @description Paid in this asset. */
        asset?: 'USDC' | 'SOL';
        /** @description From this moment on; a date is its beginning in UTC. */
        created_from?: string;
        /** @description Up to this moment, which is not included. */
        created_to?: string;
        /** @description Of the price, in whole units of its asset. */
        min_amount?: string;
        /** @description At most this much. */
        max_amount?: string;
        /** @description The beginning (4 characters or more) of a payment id, receipt id, transaction signature, wallet or e-mail address. If none begins with it: a memo, or part of a customer’s reference or a product’s name. These words, rail, asset and amounts look through the 20,000 newest payments that the other filters leave. */
        q?: string;
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['PaymentPage'];
        };
      };
    };
  };
  acceptUnmatched: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description The id of the payment. */
        payment_id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['AcceptUnmatchedRequest'];
      };
    };
    responses: {
      /** @description The payment that recovers it */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Payment'];
        };
      };
    };
  };
  claimReceipt: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['ReceiptRequest'];
      };
    };
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Receipt'];
        };
      };
    };
  };
  prepareRefund: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description The id of the payment. */
        payment_id: string;
      };
      cookie?: never;
    };
    requestBody?: {
      content: {
        'application/json': components['schemas']['RefundTransactionRequest'];
      };
    };
    responses: {
      /** @description Unsigned, base64 */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RefundTransaction'];
        };
      };
    };
  };
  confirmRefund: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description The id of the payment. */
        payment_id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['ConfirmRefundRequest'];
      };
    };
    responses: {
      /** @description The payment */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Payment'];
        };
      };
    };
  };
  getPayment: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description The identity session the payment began with: shows its buyer how to get in. */
        'X-Svc-Identity-Session'?: string;
      };
      path: {
        /** @description The id of the payment. */
        payment_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['CurrentPayment'];
        };
      };
    };
  };
  confirmPayment: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['ConfirmRequest'];
      };
    };
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ConfirmResponse'];
        };
      };
    };
  };
  receiveChainWebhook: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': unknown;
      };
    };
    responses: {
      /** @description Queued; nothing is known yet */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ChainWebhookResponse'];
        };
      };
    };
  };
  lookupMembership: {
    parameters: {
      query?: {
        /** @description Of the customer with this wallet. */
        wallet_address?: string;
        /** @description Of the customer you gave this name. */
        customer_ref?: string;
        /** @description Of the customer with this e-mail. */
        email?: string;
        /** @description The id of the payment. */
        payment_id?: string;
        /** @description Of this product. */
        product_id?: string;
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Membership'];
        };
      };
    };
  };
  listMemberships: {
    parameters: {
      query?: {
        /** @description The number of the page, from 1. */
        page?: number;
        /** @description How many entries a page has. */
        per_page?: number;
        /** @description Only what stands so. */
        status?: 'pending' | 'active' | 'grace' | 'expired' | 'cancelled';
        /** @description Of this product. */
        product_id?: string;
        /** @description Of the customer with this wallet. */
        wallet_address?: string;
        /** @description The beginning (4 characters or more) of a payment id, receipt id, transaction signature, wallet, e-mail address or membership id. If none begins with it: part of a customer’s reference or a product’s name, looked for in the 20,000 newest memberships that the other filters leave. */
        q?: string;
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['MembershipPage'];
        };
      };
    };
  };
  retryDelivery: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description The id of the membership. */
        membership_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Membership'];
        };
      };
    };
  };
  getReceipt: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: never;
      path: {
        /** @description The id of the receipt. */
        receipt_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Receipt'];
        };
      };
    };
  };
  listReceipts: {
    parameters: {
      query?: {
        /** @description The number of the page, from 1. */
        page?: number;
        /** @description How many entries a page has. */
        per_page?: number;
        /** @description Where this wallet pays or is paid. */
        wallet?: string;
        /** @description The beginning (4 characters or more) of a payment id, receipt id, transaction signature, wallet or e-mail address. If none begins with it: words of the product name, invoice number, reference or billed name. */
        q?: string;
        /** @description Of this product. */
        product_id?: string;
        /** @description What you were paid, what you paid for plans, or both. */
        direction?: 'received' | 'paid' | 'all';
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ReceiptPage'];
        };
      };
    };
  };
  getPublicReceipt: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description The id of the receipt. */
        receipt_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Receipt'];
        };
      };
    };
  };
  verifyReceipt: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description The id of the receipt. */
        receipt_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ReceiptVerification'];
        };
      };
    };
  };
  getReceiptPdf: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description The id of the receipt. */
        receipt_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description A4, in English */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/pdf': string;
        };
      };
    };
  };
  getPrivateReceiptPdf: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: never;
      path: {
        /** @description The id of the receipt. */
        receipt_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description A4, in English */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/pdf': string;
        };
      };
    };
  };
  exportReceipts: {
    parameters: {
      query?: {
        /** @description Where this wallet pays or is paid. */
        wallet?: string;
        /** @description The beginning (4 characters or more) of a payment id, receipt id, transaction signature, wallet or e-mail address. If none begins with it: words of the product name, invoice number, reference or billed name. */
        q?: string;
        /** @description Of this product. */
        product_id?: string;
        /** @description What you were paid, what you paid for plans, or both. */
        direction?: 'received' | 'paid' | 'all';
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description One line for each receipt */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'text/csv': string;
        };
      };
    };
  };
  updateInvoiceMetadata: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description The id of the receipt. */
        receipt_id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['InvoiceMetadataPatch'];
      };
    };
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['UpdateResponse'];
        };
      };
    };
  };
  sendReceiptProof: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description The id of the receipt. */
        receipt_id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['SendProofRequest'];
      };
    };
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SendProofResponse'];
        };
      };
    };
  };
  listWebhookEndpoints: {
    parameters: {
      query?: {
        /** @description The number of the page, from 1. */
        page?: number;
        /** @description How many entries a page has. */
        per_page?: number;
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['WebhookEndpointPage'];
        };
      };
    };
  };
  createWebhookEndpoint: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['CreateWebhookEndpointRequest'];
      };
    };
    responses: {
      /** @description Created */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['WebhookEndpointWithSecret'];
        };
      };
    };
  };
  disableWebhookEndpoint: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description The id of the endpoint. */
        endpoint_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['WebhookEndpoint'];
        };
      };
    };
  };
  updateWebhookEndpoint: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description The id of the endpoint. */
        endpoint_id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['UpdateWebhookEndpointRequest'];
      };
    };
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['WebhookEndpoint'];
        };
      };
    };
  };
  rotateWebhookSecret: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description The id of the endpoint. */
        endpoint_id: string;
      };
      cookie?: never;
    };
    requestBody?: {
      content: {
        'application/json': components['schemas']['RotateSecretRequest'];
      };
    };
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['WebhookEndpointWithSecret'];
        };
      };
    };
  };
  recoverWebhookEndpoint: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description The id of the endpoint. */
        endpoint_id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['RecoverWebhookRequest'];
      };
    };
    responses: {
      /** @description Scheduled */
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['WebhookRecovery'];
        };
      };
    };
  };
  listWebhookDeliveries: {
    parameters: {
      query?: {
        /** @description The number of the page, from 1. */
        page?: number;
        /** @description How many entries a page has. */
        per_page?: number;
        /** @description The id of the endpoint. */
        endpoint_id?: string;
        /** @description Only what stands so. */
        status?: 'pending' | 'retrying' | 'succeeded' | 'failed' | 'cancelled';
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['WebhookDeliveryPage'];
        };
      };
    };
  };
  replayWebhookDelivery: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description The id of the delivery. */
        delivery_id: number;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['WebhookDelivery'];
        };
      };
    };
  };
  getWebhookTimeline: {
    parameters: {
      query?: {
        /** @description The id of the payment. */
        payment_id?: string;
        /** @description The id of the membership. */
        membership_id?: string;
        /** @description Oldest first (`asc`) or newest first. */
        order?: 'asc' | 'desc';
        /** @description The `next` of the page before. */
        after?: string;
        /** @description How many entries at most. */
        limit?: number;
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['WebhookTimeline'];
        };
      };
    };
  };
  listWebhookEvents: {
    parameters: {
      query?: {
        /** @description The number of the page, from 1. */
        page?: number;
        /** @description How many entries a page has. */
        per_page?: number;
        /** @description Of this type. */
        event_type?:
          | 'payment.created'
          | 'payment.submitted'
          | 'payment.confirmed'
          | 'payment.finalized'
          | 'payment.failed'
          | 'payment.unmatched'
          | 'payment.orphaned'
          | 'payment.refunded'
          | 'receipt.created'
          | 'receipt.proof_sent'
          | 'membership.activated'
          | 'membership.renewed'
          | 'membership.grace_started'
          | 'membership.expired'
          | 'membership.access_revoked'
          | 'membership.cancelled'
          | 'delivery.succeeded'
          | 'delivery.failed'
          | 'subscription.authorized'
          | 'subscription.renewed'
          | 'subscription.past_due'
          | 'subscription.cancel_requested'
          | 'subscription.cancelled'
          | 'subscription.requires_reapproval'
          | 'entitlement.granted'
          | 'entitlement.exhausted'
          | 'entitlement.expired'
          | 'metered_session.opened'
          | 'metered_session.committed'
          | 'metered_session.closed'
          | 'support.ticket_created'
          | 'support.message_added'
          | 'support.ticket_updated'
          | 'support.ticket_closed'
          | 'payout.changed'
          | 'webhook.test'
          | 'webhook.endpoint_failing'
          | 'webhook.endpoint_disabled';
        /** @description The id of an event: the list begins behind it. A list that is read on like this has no end at row 10,000. */
        after?: string;
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['EventPage'];
        };
      };
    };
  };
  getIntegrationHealth: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['IntegrationHealth'];
        };
      };
    };
  };
  listIntegrationEvents: {
    parameters: {
      query?: {
        /** @description The number of the page, from 1. */
        page?: number;
        /** @description How many entries a page has. */
        per_page?: number;
        /** @description How many entries at most. */
        limit?: number;
        /** @description Of this type. */
        event_type?:
          | 'payment.created'
          | 'payment.submitted'
          | 'payment.confirmed'
          | 'payment.finalized'
          | 'payment.failed'
          | 'payment.unmatched'
          | 'payment.orphaned'
          | 'payment.refunded'
          | 'receipt.created'
          | 'receipt.proof_sent'
          | 'membership.activated'
          | 'membership.renewed'
          | 'membership.grace_started'
          | 'membership.expired'
          | 'membership.access_revoked'
          | 'membership.cancelled'
          | 'delivery.succeeded'
          | 'delivery.failed'
          | 'subscription.authorized'
          | 'subscription.renewed'
          | 'subscription.past_due'
          | 'subscription.cancel_requested'
          | 'subscription.cancelled'
          | 'subscription.requires_reapproval'
          | 'entitlement.granted'
          | 'entitlement.exhausted'
          | 'entitlement.expired'
          | 'metered_session.opened'
          | 'metered_session.committed'
          | 'metered_session.closed'
          | 'support.ticket_created'
          | 'support.message_added'
          | 'support.ticket_updated'
          | 'support.ticket_closed'
          | 'payout.changed'
          | 'webhook.test'
          | 'webhook.endpoint_failing'
          | 'webhook.endpoint_disabled';
        /** @description The id of an event: the list begins behind it. A list that is read on like this has no end at row 10,000. */
        after?: string;
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['EventPage'];
        };
      };
    };
  };
  subscribeHook: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['SubscribeHookRequest'];
      };
    };
    responses: {
      /** @description Created */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AutomationHookWithSecret'];
        };
      };
    };
  };
  unsubscribeHook: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description The id of the endpoint. */
        endpoint_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AutomationHook'];
        };
      };
    };
  };
  receiveMailEvents: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description Who it is done with. */
        provider: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['DetailResponse'];
        };
      };
    };
  };
  listTickets: {
    parameters: {
      query?: {
        /** @description The number of the page, from 1. */
        page?: number;
        /** @description How many entries a page has. */
        per_page?: number;
        /** @description Only what stands so. */
        status?: 'open' | 'pending' | 'resolved' | 'closed';
        /** @description `all`: of every account, for staff. */
        scope?: 'mine' | 'all';
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SupportTicketPage'];
        };
      };
    };
  };
  createTicket: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['CreateTicketRequest'];
      };
    };
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['CreatedSupportTicket'];
        };
      };
    };
  };
  getTicket: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
        /** @description Only what was written before this message. */
        before?: string;
      };
      header?: never;
      path: {
        /** @description The id of the ticket. */
        ticket_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SupportThread'];
        };
      };
    };
  };
  addTicketMessage: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description The id of the ticket. */
        ticket_id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['AddMessageRequest'];
      };
    };
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SupportThread'];
        };
      };
    };
  };
  closeTicket: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description The id of the ticket. */
        ticket_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SupportThread'];
        };
      };
    };
  };
  resolveTicket: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description The id of the ticket. */
        ticket_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SupportThread'];
        };
      };
    };
  };
  consumeEntitlement: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key': string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['ConsumeRequest'];
      };
    };
    responses: {
      /** @description Used; serve now */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ConsumeResponse'];
        };
      };
    };
  };
  grantEntitlement: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key': string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['GrantRequest'];
      };
    };
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Entitlement'];
        };
      };
    };
  };
  refundConsumption: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key': string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['RefundRequest'];
      };
    };
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RefundResponse'];
        };
      };
    };
  };
  listEntitlements: {
    parameters: {
      query?: {
        /** @description The number of the page, from 1. */
        page?: number;
        /** @description How many entries a page has. */
        per_page?: number;
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
        /** @description Of this product. */
        product_id?: string;
        /** @description Of the product you gave this name. */
        external_product_id?: string;
        /** @description Of the customer with this wallet. */
        wallet_address?: string;
        /** @description Of the customer you gave this name. */
        customer_ref?: string;
        /** @description Only what stands so. */
        status?: 'active' | 'exhausted' | 'expired' | 'revoked';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['EntitlementPage'];
        };
      };
    };
  };
  getEntitlement: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: never;
      path: {
        /** @description The id of the entitlement: always the same for this customer and product. */
        entitlement_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Entitlement'];
        };
      };
    };
  };
  listRails: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RailPage'];
        };
      };
    };
  };
  listRailSettings: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RailSettingPage'];
        };
      };
    };
  };
  putRailSetting: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key': string;
      };
      path: {
        /** @description The rail. */
        rail_id: 'solana_usdc' | 'solana_sol' | 'solana_usdc_subscription' | 'x402_solana_usdc' | 'mpp_solana_usdc';
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['RailSettingUpdate'];
      };
    };
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RailSetting'];
        };
      };
    };
  };
  createAccessApp: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key': string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['CreateAppRequest'];
      };
    };
    responses: {
      /** @description Created */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AccessApp'];
        };
      };
    };
  };
  createAccessProduct: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key': string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['CreateProductRequest'];
      };
    };
    responses: {
      /** @description Created */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['CreatedProduct'];
        };
      };
    };
  };
  getReadiness: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
        /** @description Of this product. */
        product_id?: string;
        /** @description Of the product you gave this name. */
        external_product_id?: string;
        /** @description Of this application. */
        access_app_id?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Readiness'];
        };
      };
    };
  };
  listProductRailsByName: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
        /** @description Of this product. */
        product_id?: string;
        /** @description Of the product you gave this name. */
        external_product_id?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ProductRailPage'];
        };
      };
    };
  };
  listProductRails: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: never;
      path: {
        /** @description Of this product. */
        product_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ProductRailPage'];
        };
      };
    };
  };
  getSubscriptionPlan: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: never;
      path: {
        /** @description Of this product. */
        product_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SubscriptionPlan'];
        };
      };
    };
  };
  prepareSubscriptionPlan: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key': string;
      };
      path: {
        /** @description Of this product. */
        product_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SubscriptionPlan'];
        };
      };
    };
  };
  confirmSubscriptionPlan: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key': string;
      };
      path: {
        /** @description Of this product. */
        product_id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['ConfirmSubscriptionPlanRequest'];
      };
    };
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SubscriptionPlan'];
        };
      };
    };
  };
  createPaymentSession: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key': string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['PaymentSessionRequest'];
      };
    };
    responses: {
      /** @description Created */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['PaymentSession'];
        };
      };
    };
  };
  settlePayment: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key': string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['SettleRequest'];
      };
    };
    responses: {
      /** @description Settled */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SettleResponse'];
        };
      };
      /** @description Not known yet */
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SettlePending'];
        };
      };
    };
  };
  activateStarter: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description The payment, as an x402 client writes it. */
        'PAYMENT-SIGNATURE'?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Activated; PAYMENT-RESPONSE tells the transaction */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Activation'];
        };
      };
      /** @description Not known yet */
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SettlePending'];
        };
      };
    };
  };
  activateGrowth: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description The payment, as an x402 client writes it. */
        'PAYMENT-SIGNATURE'?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Activated; PAYMENT-RESPONSE tells the transaction */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Activation'];
        };
      };
      /** @description Not known yet */
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SettlePending'];
        };
      };
    };
  };
  activateScale: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description The payment, as an x402 client writes it. */
        'PAYMENT-SIGNATURE'?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Activated; PAYMENT-RESPONSE tells the transaction */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Activation'];
        };
      };
      /** @description Not known yet */
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SettlePending'];
        };
      };
    };
  };
  getBillingSummary: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['BillingSummary'];
        };
      };
    };
  };
  createBillingCheckout: {
    parameters: {
      query?: never;
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['BillingCheckoutRequest'];
      };
    };
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['BillingCheckout'];
        };
      };
    };
  };
  createBillingPortal: {
    parameters: {
      query?: never;
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: {
      content: {
        'application/json': components['schemas']['BillingPortalRequest'];
      };
    };
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['BillingPortal'];
        };
      };
    };
  };
  refreshBilling: {
    parameters: {
      query?: never;
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['BillingSummary'];
        };
      };
    };
  };
  receiveProcessorWebhook: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': unknown;
      };
    };
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ProcessorWebhookResponse'];
        };
      };
    };
  };
  listFacilitatorKinds: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['FacilitatorSupported'];
        };
      };
    };
  };
  verifyFacilitatedPayment: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['FacilitatorRequest'];
      };
    };
    responses: {
      /** @description Judged */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['FacilitatorVerification'];
        };
      };
    };
  };
  settleFacilitatedPayment: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['FacilitatorRequest'];
      };
    };
    responses: {
      /** @description Settled or refused */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['FacilitatorSettlement'];
        };
      };
    };
  };
  createMeteredSession: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key': string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['MeteredSessionRequest'];
      };
    };
    responses: {
      /** @description Created */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['MeteredSession'];
        };
      };
    };
  };
  getMeteredSession: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: never;
      path: {
        /** @description The id of the session. */
        session_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['MeteredSession'];
        };
      };
    };
  };
  closeMeteredSession: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key': string;
      };
      path: {
        /** @description The id of the session. */
        session_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['MeteredSession'];
        };
      };
    };
  };
  reserveMeteredDelivery: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key': string;
      };
      path: {
        /** @description The id of the session. */
        session_id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['MeteredDeliveryRequest'];
      };
    };
    responses: {
      /** @description Created */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['MeteringDirective'];
        };
      };
    };
  };
  authorizeMeteredSession: {
    parameters: {
      query?: never;
      header?: {
        /** @description Scheme `Payment`: the credential. */
        authorization?: string;
      };
      path: {
        /** @description The id of the session. */
        session_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['MeteredSession'] | components['schemas']['CommitReceipt'];
        };
      };
    };
  };
  commitMeteredDelivery: {
    parameters: {
      query?: never;
      header?: {
        /** @description Scheme `Payment`: the credential. */
        authorization?: string;
      };
      path: {
        /** @description The id of the session. */
        session_id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['MeteredCommitRequest'];
      };
    };
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['CommitReceipt'];
        };
      };
    };
  };
  listNativeSubscriptions: {
    parameters: {
      query?: {
        /** @description The number of the page, from 1. */
        page?: number;
        /** @description How many entries a page has. */
        per_page?: number;
        /** @description Only what stands so. */
        status?: 'pending' | 'active' | 'past_due' | 'requires_reapproval' | 'cancel_requested' | 'cancelled' | 'expired';
        /** @description Of this product. */
        product_id?: string;
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['NativeSubscriptionPage'];
        };
      };
    };
  };
  getNativeSubscription: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: never;
      path: {
        /** @description The native subscription: a buyer’s consent to be collected from, once a period. */
        authorization_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['NativeSubscription'];
        };
      };
    };
  };
  stopNativeSubscription: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: never;
      path: {
        /** @description The native subscription: a buyer’s consent to be collected from, once a period. */
        authorization_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['NativeSubscription'];
        };
      };
    };
  };
  prepareNativeCancellation: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description The native subscription: a buyer’s consent to be collected from, once a period. */
        authorization_id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['CancelIntentRequest'];
      };
    };
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['CancelIntent'];
        };
      };
    };
  };
  confirmNativeCancellation: {
    parameters: {
      query?: never;
      header: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key': string;
      };
      path: {
        /** @description The native subscription: a buyer’s consent to be collected from, once a period. */
        authorization_id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['CancelProof'];
      };
    };
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['NativeSubscription'];
        };
      };
    };
  };
  createSetupIntent: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['CreateSetupIntentRequest'];
      };
    };
    responses: {
      /** @description Created */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['CreatedSetupIntent'];
        };
      };
    };
  };
  getSetupIntent: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description The id of the setup. */
        setup_intent_id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['SetupIntentStatusRequest'];
      };
    };
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SetupIntent'];
        };
      };
    };
  };
  putSetupManifest: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description The id of the setup. */
        setup_intent_id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['SetupManifestRequest'];
      };
    };
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SetupIntent'];
        };
      };
    };
  };
  approveSetupIntent: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description The id of the setup. */
        setup_intent_id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['ApproveSetupIntentRequest'];
      };
    };
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ApprovedSetupIntent'];
        };
      };
    };
  };
  listScenarios: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SandboxScenarios'];
        };
      };
    };
  };
  listSandboxSessions: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
        /** @description How many entries at most. */
        limit?: number;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SandboxSessions'];
        };
      };
    };
  };
  createSandboxSession: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['SandboxSessionRequest'];
      };
    };
    responses: {
      /** @description Created */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SandboxSession'];
        };
      };
    };
  };
  getSandboxSession: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: never;
      path: {
        /** @description The id of the session. */
        session_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SandboxSession'];
        };
      };
    };
  };
  advanceSandboxSession: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description The id of the session. */
        session_id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['AdvanceRequest'];
      };
    };
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['SandboxSession'];
        };
      };
    };
  };
  payTest: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['TestPaymentRequest'];
      };
    };
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['TestPayment'];
        };
      };
    };
  };
  identifyTest: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['TestIdentity'];
      };
    };
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['CompletedTestIdentity'];
        };
      };
    };
  };
  listEventTypes: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['EventType'][];
        };
      };
    };
  };
  testWebhookEndpoint: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Names this request: sent again, it has no second effect. Without a credential, from the same address alone. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description The id of the endpoint. */
        endpoint_id: string;
      };
      cookie?: never;
    };
    requestBody?: {
      content: {
        'application/json': components['schemas']['TestWebhookRequest'];
      };
    };
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['WebhookTestResult'];
        };
      };
    };
  };
  getReceiptKeys: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Done */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ReceiptKeySet'];
        };
      };
    };
  };
  announceMeteredDelivery: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['MeteredAnnouncement'];
      };
    };
    responses: {
      /** @description Created */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['MeteringDirective'];
        };
      };
    };
  };
  getHealth: {
    parameters: {
      query?: {
        /** @description 1: a degraded service is 503 too, for monitors that read the status alone. */
        strict?: '0' | '1';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Serving; degraded where something it depends on is not */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['HealthResponse'];
        };
      };
    };
  };
  getHealthV1: {
    parameters: {
      query?: {
        /** @description 1: a degraded service is 503 too, for monitors that read the status alone. */
        strict?: '0' | '1';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Serving; degraded where something it depends on is not */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['HealthResponse'];
        };
      };
    };
  };
}
