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
     * @description Creates an account on the free plan.
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
     * @description Signs in with an email address and a password. After 100 attempts on one account within an hour from addresses that never signed in to it, further attempts from such addresses return 429 `rate_limited`, whether or not the account exists. A password reset by email lifts the limit for that address.
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
     * Create a sign-in message
     * @description Creates a Sign-In With Solana message for this wallet. Valid once, for five minutes.
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
     * @description Signs in with a wallet. The first sign-in creates the account.
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
     * @description Renews a token that is valid or expired at most 7 days ago, from the body or the Bearer header. Possible until 30 days after the sign-in.
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
     * @description Has no effect on the server: the token remains valid until it expires. Discard it.
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
     * Send a verification email
     * @description Sends a verification email to the account’s address. Registration sends the first one. The link works once, for 24 hours. At most three emails are sent per hour.
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
     * Verify an email address
     * @description Verifies an email address by the token from the verification email.
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
     * @description Returns the account that the link would verify. Does not consume the token.
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
     * Remove an email address
     * @description Removes an email address from an account that someone else created with it. Requires the token from the verification email. The rest of the account is unchanged. A verified address is refused with 409 `state_conflict`.
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
     * Request a password reset
     * @description Sends a password reset link. The response and its timing are the same for every address. The link works once, for 30 minutes.
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
     * @description Sets a new password by the token from the email. All sessions end. If the address was never verified, keys, endpoints, linked providers, the sign-in wallet and payout wallets end as well, and open checkouts are closed. Refused with 409 `state_conflict` if buyers have paid the account and it has another sign-in method.
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
     * @description Lists sign-in providers, and the missing configuration of each.
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
     * Start a provider sign-in
     * @description Starts a sign-in and sets a cookie that binds it to this browser for ten minutes. With a token of a recent sign-in, the provider is linked to that account. `mode` `login` requires an existing account; `register` creates one if needed. `next` is a path of this service.
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
     * Finish a provider sign-in
     * @description Redirects to `next` with the result in the fragment: `#token=…`, `#linked=<provider>`, or `#error=` with one of access_denied, account_not_found, account_suspended, account_deleted, email_unverified, identity_in_use, provider_unavailable. An unknown, used or expired state, or one of another browser, returns 400.
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
     * @description Lists the providers that are linked to this account.
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
     * @description Unlinks a provider. Requires a recent sign-in. A repeated call changes nothing. The last sign-in method of an account cannot be removed (409 `state_conflict`).
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
     * @description Returns the calling account.
     */
    get: operations['getAccount'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    /**
     * Update the account
     * @description Updates settings; an empty text clears one. `updated_fields` lists the changed fields, settings as dotted paths. A `checkout_logo_url` is fetched whenever it is saved: a PNG or JPEG of at most 200 KB appears on PDF receipts. `detail` gives the reason if it cannot be used.
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
     * Change email address or password
     * @description Changes the email address or the password. An account without a password sets its first one within 15 minutes of signing in, without `current_password`. A repeated request with the same Idempotency-Key and a token of a new sign-in returns the same response, and does not check the old password.
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
     * @description Deletes the account. Requires a person who signed in within the last 15 minutes. Sessions, keys and webhooks end, personal data is erased, hand-offs return 410 and products 404. Payments, memberships and receipts remain, because buyers own them too. A payment in flight is still confirmed. Needs no Idempotency-Key: a repeated call returns 403 `account_deleted`.
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
     * @description Returns the domain that buyers see next to your name while it is verified, and the token that proves it. 404 if no domain is set.
     */
    get: operations['getDomain'];
    /**
     * Set your domain
     * @description Sets your domain. Publish `{"account_id": "…", "token": "…"}` at `https://<domain>/.well-known/svc-merchant.json` and call this again. The file is checked immediately and then daily, at most once in ten seconds. The token of a domain never changes.
     */
    put: operations['setDomain'];
    post?: never;
    /**
     * Remove your domain
     * @description Removes your domain. Buyers no longer see it. Succeeds if no domain is set.
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
     * Check delivery readiness
     * @description Returns the configuration of each messaging platform, the missing variables and the result of the last test.
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
     * @description Checks that the platform recognizes the bot. A platform is called at most once in ten seconds; the last result is returned in between. The sandbox calls no platform.
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
     * @description Lists the chats and guilds of the account, oldest first.
     */
    get: operations['listCommunityClaims'];
    put?: never;
    /**
     * Claim a chat or guild
     * @description Creates a code that an administrator posts in the chat or guild, valid for 10 minutes. Products can name only chats and guilds that their account has claimed. Other accounts can claim one only after it is released.
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
     * Release a chat or guild
     * @description Releases a chat or guild and revokes its open invitations. Existing members stay. Another account may then claim it.
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
     * @description Completes a claim with the code that an administrator posted. For this service’s connectors.
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
     * @description Returns the current totals of the account, separately for each asset.
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
     * @description Returns payments, members and deliveries by day. Days are in the account’s time zone. `start_date` and `end_date` are inclusive, require each other, and take precedence over `window_days`; a window is at most 90 days. Refunds and orphaned payments change the figures of the day of the payment.
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
     * @description Exports the daily figures as CSV. Days are in the account’s time zone. `start_date` and `end_date` are inclusive, require each other, and take precedence over `window_days`; a window is at most 90 days. Refunds and orphaned payments change the figures of the day of the payment.
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
     * @description Lists keys. A token sees the keys of both modes unless it names one; a key sees those of its own mode. The list includes the last hundred revoked keys of each mode.
     */
    get: operations['listKeys'];
    put?: never;
    /**
     * Create a key
     * @description Creates a key. A live key requires a person who signed in within the last 15 minutes (403 `sign_in_required`); a sandbox key does not.
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
     * List resources of a key
     * @description Lists webhook endpoints and automation hooks that the key created, or that have a URL or secret set by the key. They outlive the key.
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
     * @description Revokes a key, immediately and permanently. `with=endpoints` also disables the endpoints and hooks that the key created (`disabled_reason: key_revoked`).
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
     * Get a product’s offer
     * @description Returns the offer that a buyer sees before payment.
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
     * @description Lists products, newest first.
     */
    get: operations['listProducts'];
    put?: never;
    /**
     * Create a product
     * @description Creates a product with a hosted checkout. `POST /v1/access/products` creates the same kind of product and requires an `Idempotency-Key`.
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
     * @description Returns a product.
     */
    get: operations['getProduct'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    /**
     * Update a product
     * @description Updates the given fields. Open sessions retain their terms.
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
     * @description Takes a product off sale. Open sessions can still be paid.
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
     * @description Puts an archived product back on sale.
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
     * @description Starts a checkout. Defaults to the first of the offer’s accepted_assets, or to the rail of the payment session. A payment session with a payment in flight returns that payment. Another asset returns 409 `other_asset` with `payment_id`, unless `replaces_payment_id` names it.
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
     * @description Returns the label of a Solana Pay transaction request.
     */
    get: operations['getSolanaPay'];
    put?: never;
    /**
     * Create a Solana Pay transaction
     * @description Creates the transaction of a Solana Pay transaction request.
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
     * @description Sends the signed transaction that connect prepared, or a signed subscription step. The signature is stored before the broadcast, so a closed page loses nothing. While another sent transaction may still land, returns 409 `state_conflict` with `meta.reason` `in_flight` and Retry-After.
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
     * @description Creates a single-use link for a known buyer, valid for 10 minutes. The service stores the buyer’s data; the link contains only a token.
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
     * Resolve a hand-off
     * @description Returns the buyer of a hand-off without consuming it.
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
     * Start an identity check
     * @description Starts an identity check: send the buyer to the messaging platform.
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
     * Complete an identity check
     * @description Completes an identity check. For this service’s connectors.
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
     * @description Lists payments, newest first, including unmatched money. With `status` and `product_id` together, `total` is exact up to 2,000.
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
     * @description Accepts a late, short or second payment of this session, or one of an unidentified buyer, as a new payment. A repeated call returns the same response. The first period of a native subscription starts it. Money that the chain has dropped cannot be accepted: 409 `state_conflict`, `meta.reason: transaction_orphaned`.
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
     * @description Creates the receipt of a transaction. Idempotent: one transaction has one receipt. An open payment of the transaction is confirmed first.
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
     * @description Prepares a refund from the wallet that was paid to the wallet that paid. Open `/sign#<transaction>` of this service to sign and send it. Once the chain shows it, `refunded` of the payment lists it. Refunds never exceed the received amount. While a prepared refund may still land, returns 409 `state_conflict` with `meta.reason` `in_flight`.
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
     * @description Confirms a refund from the chain. Optional: the service also finds refunds by itself, a little later. A repeated call returns the same response.
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
     * @description Returns a payment. Public: the id is the capability, and the owner sees more fields. Intended for the buyer’s session; merchants should use webhooks.
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
     * @description Confirms a payment from the chain. An unknown signature is stored and checked again, and changes nothing until it is proven: read the payment before you send it again. A transaction that does not pay this session is refused and changes nothing.
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
     * @description Receives enhanced transactions, one or a list, signed with HMAC-SHA256 over the raw body. Only their signatures are used, as a hint: the service reads each transaction from its own node, as POST /v1/pay/confirm does.
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
     * Find a membership
     * @description Finds a membership by wallet_address, customer_ref, email or payment_id, each optionally with product_id. If several match, returns the one with the latest end.
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
     * @description Lists memberships, newest first. With `wallet_address` and `status` together, `total` is exact up to 2,000.
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
     * Retry access delivery
     * @description Retries the delivery of access. Safe to repeat. Memberships that are delivered, need no delivery or have ended are unchanged; failed revocations are retried.
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
     * @description Returns the full signed receipt.
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
     * @description Lists receipts, newest first. With `q`, `total` is exact up to 2,000.
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
     * @description Returns the public proof of a receipt.
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
     * @description Recomputes the hash and verifies the signature of a receipt.
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
     * @description Returns the public proof as a PDF.
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
     * @description Returns the merchant’s copy as a PDF, with fee, net and invoice metadata.
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
     * @description Exports receipts as CSV (RFC 4180, UTF-8), at most 100,000 rows; `X-Svc-Truncated: true` if more exist. A row has the price and its exchange rate, the buyer, the refunded amount in the asset of `amount`, and the paid time: the period of a subscription, else the days bought, counted from the payment. Cells that a spreadsheet would read as a formula begin with a `'`.
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
     * Update invoice metadata
     * @description Merges invoice metadata field by field; `null` removes a field, a list replaces the previous one. The metadata is not part of the signed document and appears only in the merchant’s responses and copy. At most 16 KB in total.
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
     * Email a proof
     * @description Emails the public proof of a receipt. At most five a day per receipt and address, and 200 a day per account. The account’s own address must be verified (403 `invalid_authorization`, `meta.reason: email_unverified`). The sandbox sends nothing.
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
     * @description Lists endpoints, newest first.
     */
    get: operations['listWebhookEndpoints'];
    put?: never;
    /**
     * Create an endpoint
     * @description Creates an endpoint. The secret is shown only in this response and at rotation.
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
     * @description Disables an endpoint. Its data remains.
     */
    delete: operations['disableWebhookEndpoint'];
    options?: never;
    head?: never;
    /**
     * Update an endpoint
     * @description Updates the given fields. `status: enabled` enables a disabled endpoint.
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
     * @description Creates a new secret. The old one also signs for a limited time.
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
     * @description Delivers missed events again: at most 90 days back and 20,000 events per call, oldest first. Repeat until `scheduled` is 0.
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
     * @description Lists deliveries, newest first.
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
     * @description Sends the event of a delivery again, as a new delivery.
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
     * @description Lists events of a payment or membership and their deliveries, oldest first unless `order` is `desc`. `next` is null on the last page; otherwise send it as `after`. 404 for a payment or membership of another account.
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
     * @description Lists events in chronological order. With `event_type`, `total` is exact up to 2,000.
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
     * @description Delivery health of your webhook endpoints.
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
     * @description Lists the same events as `GET /v1/webhooks/events`, for platforms that send `limit`, an alias of `per_page`. Both together return 422.
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
     * @description Creates a REST hook of an automation platform.
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
     * @description Removes a REST hook of an automation platform.
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
     * Receive email events
     * @description Receives events of the email provider, signed over the raw body. Addresses that bounced or complained get no further emails. Without the signing secret, returns 503 `mail_not_configured`, so that the provider retries later.
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
     * @description Lists tickets, ordered by the latest message, newest first.
     */
    get: operations['listTickets'];
    put?: never;
    /**
     * Create a ticket
     * @description Creates a ticket. Text is shown exactly as written. An account can send at most 50 messages per hour.
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
     * @description Returns a ticket with its newest messages (at most 50) and the timeline of its subject. If older messages exist, `messages_before` is the value of `before` that returns them.
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
     * @description Adds a message to a ticket. A resolved ticket is reopened.
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
     * @description Closes a ticket permanently.
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
     * @description Marks a ticket as resolved, for staff. It is closed after 14 days without a message.
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
     * @description Consumes units. Serve only after 200. If `code` is `entitlement_missing` or `subscription_expired`, answer your caller with 402 and forward the `PAYMENT-REQUIRED` header of this response; `meta.payment_required` contains it decoded. Branch on `code`, never on the status.
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
     * @description Grants units or days without a payment: units for products sold by units, days for products sold by time, either or both for products sold by both. Units add up. Days extend `paid_through` from now or from its end, whichever is later. Products sold without any limit accept neither.
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
     * @description Returns consumed units, within 24 hours. Later requests with the Idempotency-Key of the consumption return 409, so that nothing is served for free.
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
     * @description Lists entitlements. Data may be a few seconds old. With `status` or a product, `total` is exact up to 2,000.
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
     * @description Returns the current state of an entitlement.
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
     * @description Lists the payment rails and their current status.
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
     * @description Lists your settings of every rail, and whether the payout accounts exist.
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
     * Update a rail setting
     * @description Updates your setting of a rail. A key may set the first payout wallet of the account, or a known one. In live mode any other wallet requires a person who signed in within the last 15 minutes.
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
     * @description Creates an application that products can belong to.
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
     * @description Creates the same product as POST /v1/products. The Idempotency-Key is required, so that a retry creates no second product.
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
     * @description Checks a sale. With a product, checks the whole sale; without one, only the account. In the sandbox, checks of the chain are skipped. `app_found`: The app exists in your account and mode. Blocks. `product_found`: The product exists in your account, mode and app. Blocks. `product_active`: The product is neither archived nor disabled by the operator. Blocks. `price_set`: The price suits the asset of every rail of the product. Blocks. `rail_enabled`: At least one rail is allowed and enabled, every enabled rail is available, the Solana node responds, and the SOL price source responds if a second asset is accepted. Blocks. `payout_wallet_set`: Every rail of the product has a payout wallet that can spend: the product’s, the rail’s or the account’s. Blocks. `payout_ata_exists`: The payout wallet has a USDC account. Blocks x402, because x402 buyers cannot create it; a warning for checkout only. For a small price in SOL, the wallet holds enough to receive it. Blocks. `fee_wallet_configured`: The service fee, if any, has a wallet that can receive it. Blocks checkout; only the operator can resolve it. `webhook_endpoint_enabled`: An enabled endpoint receives this product’s events. A warning: sales work without it. `plan_active`: The plan is active. A warning if a paid plan ends soon, because its limits end with it. The free plan sells too. `live_mode_confirmed`: Live mode is confirmed. Blocks x402; plain checkout does not require it. `live_key_present`: A live key with execute exists. A warning: without one, only a signed-in person can consume and settle. `subscription_plan_published`: A product that renews automatically has a published plan of its current terms. Blocks.
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
     * @description Lists all rails, and whether this product can currently be sold over each.
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
     * @description Lists all rails, and whether this product can currently be sold over each. Takes the product id.
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
     * @description Returns the on-chain plan that buyers of a product with `renewal_mode` `AUTOMATIC` subscribe to.
     */
    get: operations['getSubscriptionPlan'];
    put?: never;
    /**
     * Publish the plan of a product
     * @description Creates the transaction by which your payout wallet publishes the plan of the current price and period. Open `/sign#<transaction>` of this service to sign and send it, then confirm. A published plan never changes: another price requires another plan.
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
     * @description Reads the plan back from the chain and verifies every field. 422 `payment_mismatch` names the field that differs in `meta.reason`; `not_published` if no plan is found.
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
     * @description Creates a checkout for one buyer, with price and customer fixed for 30 minutes. Connect with `payment_session_id` starts its payment. The session has at most one open payment, and a repeated connect returns it. Another asset returns 409 `other_asset`, unless `replaces_payment_id` names the payment. After a failed payment, a new one may start until the session expires.
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
     * @description Settles an x402 payment. One payment counts once. Repeated under its key, it returns the first result. Under any other key it returns `duplicate: true` with `consumed_units: 0`, the customer’s current balance and the header `X-Svc-Duplicate-Settlement: true`, and stores that response. Serve nothing for a duplicate, unless the consumption was refunded before; then it serves one more request. 202 means that the outcome is not known yet: send the same payment again, never ask for a new one. The service pays the network fee of 100 payments a day (free), 5000 payments a day (starter), 50000 payments a day (growth), 500000 payments a day (scale), and free accounts share a budget of the deployment. Once half of it was spent on failed payments, the rest of the day is reserved for wallets that have paid you before. Purchases of plans do not count. A payer may have 5 open payments, and 10 failed ones within 10 minutes, over all merchants. Beyond that, calls return 429 `rate_limited` with the `reason` in `meta` (`fee_budget` or `payer_busy`), the limit and the remaining number.
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
     * @description Buys the plan for 19 USDC by x402 V2. Without PAYMENT-SIGNATURE, returns 402 with the challenge in PAYMENT-REQUIRED; repeated with PAYMENT-SIGNATURE, returns 200 with PAYMENT-RESPONSE. The public x402 client refuses more than $1 by default: `client.setSpendControls({ maxAmountPerPayment: '$19' })`. Paid time retains its value: the same plan lasts 30 days longer; a higher one begins now and lasts 30 days plus the remaining time, converted at the two prices. `meta` of the 402 has the result, `plan` and `paid_through`, for a payment made now. The new limits apply to the next request. One payment counts once: a repeated call returns the first response. A lower plan during a higher one is refused with 409. If a higher one began after the payment was sent, it is extended by the value of the payment. 202 means that the outcome is not known yet: send the same payment again, never a new one. A setup stays open until then. An ended plan becomes `free` immediately. During a plan without an end, nothing is sold (409). In the sandbox, a test wallet pays (POST /v1/testing/pay), all responses are those of a purchase, and the plan of the account does not change.
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
     * @description Buys the plan for 49 USDC by x402 V2. Without PAYMENT-SIGNATURE, returns 402 with the challenge in PAYMENT-REQUIRED; repeated with PAYMENT-SIGNATURE, returns 200 with PAYMENT-RESPONSE. The public x402 client refuses more than $1 by default: `client.setSpendControls({ maxAmountPerPayment: '$49' })`. Paid time retains its value: the same plan lasts 30 days longer; a higher one begins now and lasts 30 days plus the remaining time, converted at the two prices. `meta` of the 402 has the result, `plan` and `paid_through`, for a payment made now. The new limits apply to the next request. One payment counts once: a repeated call returns the first response. A lower plan during a higher one is refused with 409. If a higher one began after the payment was sent, it is extended by the value of the payment. 202 means that the outcome is not known yet: send the same payment again, never a new one. A setup stays open until then. An ended plan becomes `free` immediately. During a plan without an end, nothing is sold (409). In the sandbox, a test wallet pays (POST /v1/testing/pay), all responses are those of a purchase, and the plan of the account does not change.
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
     * @description Buys the plan for 199 USDC by x402 V2. Without PAYMENT-SIGNATURE, returns 402 with the challenge in PAYMENT-REQUIRED; repeated with PAYMENT-SIGNATURE, returns 200 with PAYMENT-RESPONSE. The public x402 client refuses more than $1 by default: `client.setSpendControls({ maxAmountPerPayment: '$199' })`. Paid time retains its value: the same plan lasts 30 days longer; a higher one begins now and lasts 30 days plus the remaining time, converted at the two prices. `meta` of the 402 has the result, `plan` and `paid_through`, for a payment made now. The new limits apply to the next request. One payment counts once: a repeated call returns the first response. A lower plan during a higher one is refused with 409. If a higher one began after the payment was sent, it is extended by the value of the payment. 202 means that the outcome is not known yet: send the same payment again, never a new one. A setup stays open until then. An ended plan becomes `free` immediately. During a plan without an end, nothing is sold (409). In the sandbox, a test wallet pays (POST /v1/testing/pay), all responses are those of a purchase, and the plan of the account does not change.
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
     * @description Returns the plan of the account, its source and its current usage.
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
     * @description Creates a card checkout. Requires a person who signed in within the last 15 minutes; keys are refused with 403. Send the person to `checkout_url`. A repeated request for the same plan returns the same open page; another plan closes it. An account with a subscription gets a page to change it. Return URLs must be on this service and default to the dashboard. The current plan of the account is refused with 409 `state_conflict`.
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
     * @description Creates a session of the card portal. Requires a person who signed in within the last 15 minutes; keys are refused with 403. Returns 409 `state_conflict` before the first purchase by card.
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
     * @description Reads the plan from the payment processor and returns the summary. Safe to repeat.
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
     * @description Receives events of the payment processor, signed over the raw body. An event only triggers a read from the processor. Each event is processed once; unknown types and customers are ignored.
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
     * List supported payments
     * @description Lists supported payments. The base URL of the facilitator ends before `/supported`. Use it in any x402 V2 resource server, with your key in `X-Svc-Key` for verify and settle.
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
     * Verify a payment for your server
     * @description Verifies a payment. Body and response follow the x402 reference; a refusal is 200 as well. `payTo` must be your payout wallet: that of the x402 rail, of your account, or of one of your live products. A payment with an earlier successful response is refused as `duplicate_settlement`. A settled payment without one passes, so that the buyer can still get what they paid for.
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
     * Settle a payment for your server
     * @description Settles a payment. Body and response follow the x402 reference; a refusal is 200 as well. The payment itself is the idempotency key: it is settled once. Of concurrent calls, one gets `success: true` and the others `duplicate_settlement` with the signature in `transaction`. A later call of the same account gets the first result again, so a lost response loses nothing: verify each request first, which refuses a payment with an earlier success, and serve once per `transaction`. Another account gets `duplicate_settlement`. `settlement_pending` means that no call has its success yet: repeat with the same payment. Nothing is granted and no payment is recorded: your server is responsible for both. The service pays the network fee of 100 payments a day (free), 5000 payments a day (starter), 50000 payments a day (growth), 500000 payments a day (scale), and free accounts share a budget of the deployment. Once half of it was spent on failed payments, the rest of the day is reserved for wallets that have paid you before. Purchases of plans do not count. A payer may have 5 open payments, and 10 failed ones within 10 minutes, over all merchants. Beyond that, calls return 429 `rate_limited` with the `reason` in `meta` (`fee_budget` or `payer_busy`), the limit and the remaining number.
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
     * Create a metered session
     * @description Creates a metered session. The buyer’s client opens a payment channel by the challenge, at `authorize_url`, within 60 minutes, and then streams vouchers. Each voucher promises a higher cumulative amount; none moves money. The highest one is settled on the chain, straight to your wallet. This call has its own rate limit, equal to that of consume, settle and other metered calls, so that strangers who never pay use up nothing that buyers need.
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
     * @description Returns the current state: deposit, promised, reserved and settled amounts.
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
     * @description Closes the session with its highest voucher. No further voucher is accepted. The status is `closing` until the chain has settled it: ask again, or wait for `metered_session.closed`. An unopened session is `closed` immediately, with nothing settled. Returns 409 `state_conflict` (`opening-pending`) while a buyer opens it.
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
     * @description Reserves an amount of the deposit for one delivery, until its voucher arrives or the reservation expires.
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
     * @description Performs the action of the credential of scheme Payment. Without a credential, returns 402 with the challenge in `WWW-Authenticate`. A refused credential returns 402 with a new challenge and `meta.reason`. The response to action `commit` is the receipt of the delivery.
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
     * @description Pays for a delivery with a voucher, in the body or in the credential of scheme Payment. The same delivery with the same voucher again returns 200 and `replayed`. A refusal has its reason in `meta.reason`.
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
     * @description Lists stored native subscriptions, newest first. With `product_id` and `status` together, `total` is exact up to 2,000.
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
     * @description Returns the stored state of a native subscription. Changes that were made on the chain without this service are read within seconds of this call, and otherwise once a day: call again, or wait for the event.
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
     * @description Stops collecting, immediately and permanently. Requires a person who signed in within the last 15 minutes. Paid time remains valid. The buyer’s consent remains on the chain until the buyer cancels; the buyer gets instructions by email if an address is known. A repeated call changes nothing.
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
     * @description Creates the transaction that the buyer’s wallet signs to end the subscription. Changes nothing by itself. Buyers can also cancel on the chain at any time, without this service.
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
     * @description Confirms a cancellation by the signature of its transaction, or by the signed transaction itself, which the service sends. The account on the chain is the proof: 422 `payment_mismatch` with `meta.reason` if it does not match, retryable while the transaction may still land.
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
     * Start a setup
     * @description Starts a setup. Needs no credential. `setup_secret` and `sandbox_api_key` are shown only in this response. The setup ends after 24 hours unless a plan is activated with its secret; a payment in flight extends it. Follow `next_actions`.
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
     * @description Returns the setup and its next actions. An unknown setup, a wrong secret, and a secret of another setup return the same 404.
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
     * @description Replaces the previous manifest until the setup is approved. Afterwards the only accepted change is to a manifest that requests live mode and meets its rules. Findings of severity `error` return the manifest for changes (`changes_required`); without one it is `ready`. The URLs are never fetched. An unknown setup, a wrong secret, and a secret of another setup return the same 404.
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
     * @description Approves the setup. A live key requires a plan and a manifest with `live_requested: true`, and is shown once. A second request while a live key is active returns 409 `state_conflict`. Name that key in `replace_live_key_id` to replace it, or to revoke it without a replacement. Approval applies nothing of the manifest: `next_actions` lists the calls that do. An unknown setup, a wrong secret, and a secret of another setup return the same 404.
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
     * @description Lists the scenarios of the sandbox.
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
     * @description Lists recent sandbox sessions, newest first.
     */
    get: operations['listSandboxSessions'];
    put?: never;
    /**
     * Run a scenario
     * @description Runs a scenario. Returns immediately: poll the session, or listen on your sandbox endpoints. Its objects have `livemode: false`, and its customer references begin with its id. The session is erased 30 days after its end.
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
     * @description Returns a sandbox session.
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
     * Advance the clock
     * @description Advances the clock of the session. Everything due on the way happens in order and at its time. At most 400 days per call. The clock only moves forward, one call at a time, for 60 days after the session began.
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
     * @description Pays as a test wallet. A payment is signed and broadcast on the simulated chain, but not confirmed: confirm it as your page would, or wait until it is found. An x402 challenge returns the value that an agent sends as PAYMENT-SIGNATURE. `declined` returns no signature.
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
     * @description Completes a buyer’s identity check as the connector would.
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
     * @description Lists all event types, each with its JSON Schema and an example.
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
     * @description Sends the example of an event type now, signed and with `"test": true`, and returns the result. Disabled endpoints can be tested. A test never changes the endpoint and appears in no event list.
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
     * @description Returns the public keys that sign receipts, including retired ones.
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
     * @description Announces a delivery, as the public client of payment sessions does at the root of an origin. Reserves nothing.
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
     * @description Returns the health of the service and of its dependencies. `/health` and `/v1/health` return the same.
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
     * @description Returns the health of the service and of its dependencies. `/health` and `/v1/health` return the same.
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
    RegisterRequest: {
      /**
       * Format: email
       * @description Email address.
       */
      email: string;
      /** @description Password of 8 to 128 characters. */
      password: string;
      /** @description Name of the account, as buyers see it. */
      display_name: string;
    };
    Claims: {
      /** @description Score of the account, for tools that require one. */
      svc_score: boolean;
      /** @description True if the account may receive payments. */
      svc_pay: boolean;
      /** @description True if the account may use operator tools. */
      svc_ops: boolean;
      /** @description True if the account operates this deployment. */
      is_staff: boolean;
    };
    AuthResponse: {
      /** @description Session token for `Authorization: Bearer`. */
      token: string;
      /**
       * Format: uuid
       * @description Identifier of the account.
       */
      user_id: string;
      /**
       * @description Plan: `free`, `starter`, `growth` or `scale`.
       * @enum {string}
       */
      tier: 'free' | 'starter' | 'growth' | 'scale';
      /** @description Email address. */
      email: string | null;
      /** @description Claims of the token about the account. */
      claims: components['schemas']['Claims'];
      /**
       * Format: date-time
       * @description Time of expiry.
       */
      expires_at: string;
    };
    Error: {
      /** @description Human-readable message. Do not branch on it. */
      detail: string;
      /**
       * @description Machine-readable error code. Branch on this.
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
      /** @description Identifier of the request in the operator’s log. */
      request_id: string;
      /** @description URL of a page that explains the error. */
      docs_url: string;
      /** @description True if the same request may succeed later. */
      retryable: boolean;
      /** @description Machine-readable details. The fields depend on the code. */
      meta: {
        [key: string]: unknown;
      };
    };
    HTTPValidationError: {
      /** @description Human-readable message. Do not branch on it. */
      detail: {
        /** @description Location of the problem: `body`, `query`, `path` or `header`, then the field. */
        loc: (string | number)[];
        /** @description Human-readable description of the problem. */
        msg: string;
        /** @description Stable code of the problem. */
        type: string;
        /** @description Details of an `unknown_field`: the closest known field, if any. */
        ctx?: {
          /** @description Known name closest to the unknown one. */
          nearest?: string;
        };
      }[];
      /**
       * @description Machine-readable error code. Branch on this.
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
      /** @description Identifier of the request in the operator’s log. */
      request_id: string;
      /** @description URL of a page that explains the error. */
      docs_url: string;
      /** @description True if the same request may succeed later. */
      retryable: boolean;
      /** @description Machine-readable details. The fields depend on the code. */
      meta: {
        [key: string]: unknown;
      };
    };
    LoginRequest: {
      /**
       * Format: email
       * @description Email address.
       */
      email: string;
      /** @description Password of 8 to 128 characters. */
      password: string;
    };
    WalletNonceRequest: {
      /** @description Address of a Solana wallet. */
      wallet_address: string;
    };
    WalletNonce: {
      /** @description Single-use nonce of the message. */
      message_nonce: string;
      /** @description Message to sign. */
      message: string;
      /**
       * Format: date-time
       * @description Time of issue.
       */
      issued_at: string;
      /**
       * Format: date-time
       * @description Time of expiry.
       */
      expires_at: string;
    };
    WalletLoginRequest: {
      /** @description Address of a Solana wallet. */
      wallet_address: string;
      /** @description Ed25519 signature, in base58, of `message` or of the bare `message_nonce`. The bare nonce names no domain: its session can create keys, but cannot set a payout wallet, move an external product id, set a password or delete the account. */
      signed_message: string;
      /** @description Single-use nonce of the message. */
      message_nonce: string;
    };
    RefreshRequest: {
      /** @description Session token to renew, unless the header carries it. */
      token?: string;
    };
    DetailResponse: {
      /** @description Human-readable message. Do not branch on it. */
      detail: string;
    };
    VerifyEmailRequest: {
      /** @description Token from the email: the part after `#token=` in its link. */
      token: string;
    };
    PreviewVerificationRequest: {
      /** @description Token from the email: the part after `#token=` in its link. */
      token: string;
    };
    VerificationPreview: {
      /** @description Name of the account, as buyers see it. */
      account: string;
      /**
       * Format: date-time
       * @description Time at which the object was created.
       */
      created_at: string;
      /** @description Email address. */
      email: string;
    };
    DisownEmailRequest: {
      /** @description Token from the email: the part after `#token=` in its link. */
      token: string;
    };
    ForgotPasswordRequest: {
      /**
       * Format: email
       * @description Email address.
       */
      email: string;
    };
    ResetPasswordRequest: {
      /** @description Token from the email: the part after `#token=` in its link. */
      token: string;
      /** @description New password of 8 to 128 characters. */
      new_password: string;
    };
    OAuthProviders: {
      /** @description Sign-in providers. */
      providers: {
        /**
         * @description Provider name.
         * @enum {string}
         */
        provider: 'google' | 'github';
        /** @description True if this deployment has the configuration. */
        configured: boolean;
        /** @description Callback URL to register at the provider. */
        callback_url: string;
        /** @description Names of the missing variables. */
        missing: string[];
      }[];
    };
    OAuthStart: {
      /**
       * @description Provider name.
       * @enum {string}
       */
      provider: 'google' | 'github';
      /** @description Callback URL to register at the provider. */
      callback_url: string;
      /** @description URL to send the person to. */
      authorization_url: string;
    };
    SignInIdentities: {
      /** @description Entries of this page. */
      items: {
        /**
         * @description Provider name.
         * @enum {string}
         */
        provider: 'google' | 'github';
        /** @description Email address. */
        email?: string;
        /**
         * Format: date-time
         * @description Time at which the provider was linked.
         */
        linked_at: string;
      }[];
    };
    /** @description Email notification settings. All are enabled by default. */
    NotificationPrefs: {
      /** @description Emails about endpoints that fail or are disabled. */
      webhooks: boolean;
      /** @description Emails about unmatched money and refunds. */
      payouts: boolean;
      /** @description Emails before a plan ends. */
      renewals: boolean;
      /** @description Receipts to buyers who gave an email address. */
      buyer_receipts: boolean;
      /** @description Emails about product news. */
      product_news: boolean;
    };
    MerchantSettings: {
      /** @description Brand name on the checkout page, in addition to the account name. Empty if not set. */
      checkout_brand_name: string;
      /** @description https URL of a PNG or JPEG of at most 200 KB. Empty if not set. */
      checkout_logo_url: string;
      /** @description https URL of a wide image. Empty if not set. */
      checkout_hero_image_url: string;
      /** @description Label of the button that returns to the shop. Empty if not set. */
      checkout_success_button_label: string;
      /** @description Color of buttons, such as `#1a2b3c`. The contrast is adjusted for legibility. Empty if not set. */
      checkout_accent_hex: string;
      /** @description Default URL for buyers after payment, if the product sets none. Empty if not set. */
      default_redirect_url: string;
      /** @description URL of your buyer support. Empty if not set. */
      default_support_url: string;
    };
    /** @description Time of the takeover of the account by the owner of its email address, and the access that ended with it. */
    ClaimedAccount: {
      /**
       * Format: date-time
       * @description Time of the takeover.
       */
      at: string;
      /** @description Number of revoked keys. */
      keys: number;
      /** @description Number of disabled endpoints. */
      endpoints: number;
      /** @description Sign-in providers that were unlinked. */
      providers: number;
      /** @description Number of removed payout wallets. */
      wallets: number;
    };
    Account: {
      /**
       * Format: uuid
       * @description Identifier of the account.
       */
      user_id: string;
      /** @description Email address. */
      email: string | null;
      /** @description Address of a Solana wallet. */
      wallet_address: string | null;
      /** @description Name of the account, as buyers see it. */
      display_name: string;
      /**
       * @description Plan: `free`, `starter`, `growth` or `scale`.
       * @enum {string}
       */
      tier: 'free' | 'starter' | 'growth' | 'scale';
      /**
       * @description Status of the object.
       * @enum {string}
       */
      status: 'active' | 'suspended' | 'deleted';
      /** @description True if the email address is verified. */
      email_verified: boolean;
      /**
       * @description Reason emails to the address are suspended: a bounce or a spam complaint. Verify the address again to resume.
       * @enum {string}
       */
      email_problem?: 'bounced' | 'complained';
      /** @description IANA time zone, such as `Europe/Berlin`. Analytics use its days. */
      timezone: string;
      /**
       * @description Language of emails to you.
       * @enum {string}
       */
      locale: 'en' | 'es' | 'de' | 'fr' | 'pt-BR' | 'ja';
      /**
       * Format: date-time
       * @description Time at which the object was created.
       */
      created_at: string;
      /** @description Identifier of the calling key. */
      key_id: string | null;
      /** @description True if the calling key acts in the sandbox. */
      sandbox: boolean;
      /** @description Email notification settings. */
      notification_prefs: components['schemas']['NotificationPrefs'];
      /** @description Appearance of your checkout pages. */
      merchant_settings: components['schemas']['MerchantSettings'];
      /** @description Claims of the token about the account. */
      claims: components['schemas']['Claims'];
      /** @description True if the account has a password. */
      has_password: boolean;
      /** @description Linked sign-in providers. */
      auth_providers: string[];
      /** @description Access that ended when the owner of the email address took over the account. */
      claimed?: components['schemas']['ClaimedAccount'];
    };
    MerchantSettingsPatch: {
      /** @description Brand name on the checkout page, in addition to the account name. */
      checkout_brand_name?: '' | string;
      /** @description https URL of a PNG or JPEG of at most 200 KB. */
      checkout_logo_url?: '' | string;
      /** @description https URL of a wide image. */
      checkout_hero_image_url?: '' | string;
      /** @description Label of the button that returns to the shop. */
      checkout_success_button_label?: '' | string;
      /** @description Color of buttons, such as `#1a2b3c`. The contrast is adjusted for legibility. */
      checkout_accent_hex?: '' | string;
      /** @description Default URL for buyers after payment, if the product sets none. */
      default_redirect_url?: '' | string;
      /** @description URL of your buyer support. */
      default_support_url?: '' | string;
    };
    UpdateAccountRequest: {
      /** @description Name of the account, as buyers see it. */
      display_name?: string;
      /** @description IANA time zone, such as `Europe/Berlin`. Analytics use its days. */
      timezone?: string;
      /**
       * @description Language of emails, such as `en`.
       * @enum {string}
       */
      locale?: 'en' | 'es' | 'de' | 'fr' | 'pt-BR' | 'ja';
      /** @description Email notification settings. */
      notification_prefs?: {
        /** @description Emails about endpoints that fail or are disabled. */
        webhooks?: boolean;
        /** @description Emails about unmatched money and refunds. */
        payouts?: boolean;
        /** @description Emails before a plan ends. */
        renewals?: boolean;
        /** @description Receipts to buyers who gave an email address. */
        buyer_receipts?: boolean;
        /** @description Emails about product news. */
        product_news?: boolean;
      };
      /** @description Appearance of your checkout pages. */
      merchant_settings?: components['schemas']['MerchantSettingsPatch'];
    };
    UpdateResponse: {
      /** @description Human-readable message. Do not branch on it. */
      detail: string;
      /** @description Names of the changed fields. */
      updated_fields: string[];
    };
    ChangeSecurityRequest: {
      /**
       * Format: email
       * @description Email address.
       */
      email?: string;
      /** @description Current password, as proof of identity. */
      current_password?: string;
      /** @description New password of 8 to 128 characters. */
      new_password?: string;
    };
    SellerDomain: {
      /** @description Host name of yours in lower case, such as `shop.example.com`, without `https://`, port or path. */
      domain: string;
      /**
       * @description Status of the domain. Buyers see the domain while it is `verified`. `failed`: the file does not contain the token.
       * @enum {string}
       */
      status: 'pending' | 'verified' | 'failed';
      /**
       * Format: date-time
       * @description Time of the check.
       */
      checked_at?: string;
      /** @description Token that `/.well-known/svc-merchant.json` must contain, as `{account_id, token}`. */
      token: string;
    };
    SetDomainRequest: {
      /** @description Host name of yours in lower case, such as `shop.example.com`, without `https://`, port or path. */
      domain: string;
    };
    PlatformReadiness: {
      /** @description True if this deployment has the configuration. */
      configured: boolean;
      /** @description Names of the missing variables. */
      missing: string[];
      /** @description User name of the bot. */
      bot_username?: string;
      /** @description Result of the last test of the platform. */
      ok: boolean;
      /**
       * Format: date-time
       * @description Time of the last test of the platform.
       */
      last_test_at?: string;
    };
    DeliveryReadiness: {
      /** @description Telegram configuration of this deployment. */
      telegram: components['schemas']['PlatformReadiness'];
      /** @description Discord configuration of this deployment. */
      discord: components['schemas']['PlatformReadiness'];
    };
    DeliveryTestRequest: {
      /**
       * @description Provider name.
       * @enum {string}
       */
      provider: 'telegram' | 'discord';
    };
    DeliveryTest: {
      /**
       * @description Provider name.
       * @enum {string}
       */
      provider: 'telegram' | 'discord';
      /** @description True if the platform recognizes the bot. */
      ok: boolean;
      /** @description Human-readable message. Do not branch on it. */
      detail: string;
      /** @description Response time of the platform in milliseconds. */
      latency_ms: number;
    };
    BeginClaimRequest: {
      /**
       * @description Provider name.
       * @enum {string}
       */
      provider: 'telegram' | 'discord';
    };
    BegunClaim: {
      /** @description Code to post in the chat or guild. */
      code: string;
      /**
       * Format: date-time
       * @description Time of expiry.
       */
      expires_at: string;
    };
    /** @description Chat or guild that belongs to the account. */
    CommunityClaim: {
      /**
       * Format: uuid
       * @description Identifier of the claim.
       */
      claim_id: string;
      /**
       * @description Provider name.
       * @enum {string}
       */
      provider: 'telegram' | 'discord';
      /** @description Telegram chat id, as text. */
      chat_id?: string;
      /** @description Discord guild id, as text. */
      guild_id?: string;
      /**
       * Format: date-time
       * @description Time at which the administrator posted the code.
       */
      claimed_at: string;
    };
    CommunityClaims: {
      /** @description Entries of this page. */
      items: components['schemas']['CommunityClaim'][];
    };
    ConnectorClaim: {
      /** @description Code that the administrator posted. */
      code: string;
      /** @description Telegram chat id, as text. */
      chat_id?: string;
      /** @description Discord guild id, as text. */
      guild_id?: string;
    };
    /** @description Totals of one asset, as decimals. `gross` is the price and overpayment of confirmed payments, without orphaned ones; `fee` is the part paid to the service; `net` is gross minus fee minus refunded. */
    Sums: {
      /** @description Price and overpayment of confirmed payments: a decimal as text. */
      gross: string;
      /** @description `gross` minus `fee` and `refunded`. */
      net: string;
      /** @description Part of the sum that was paid to the service as a fee. */
      fee: string;
      /** @description Refunded amount. */
      refunded: string;
    };
    AccountSummary: {
      /** @description Number of products on sale. */
      active_templates: number;
      /** @description Number of active memberships. */
      paying_members: number;
      /** @description Number of memberships that end soon. */
      renewals_due: {
        /** @description Number of memberships. */
        count: number;
        /**
         * @description Number of days ahead.
         * @enum {number}
         */
        window_days: 7;
      };
      /** @description Number of open or pending tickets. */
      open_support_threads: number;
      /** @description Number of issued receipts. */
      receipts_issued: number;
      /** @description Number of confirmed payments. */
      confirmed_payments: number;
      /** @description Totals, separately for each asset. */
      totals: {
        /** @description Amounts paid in USDC. */
        USDC: components['schemas']['Sums'];
        /** @description Amounts paid in SOL. */
        SOL: components['schemas']['Sums'];
      };
      /**
       * Format: date-time
       * @description Time of the figures.
       */
      as_of: string;
    };
    AssetTotals: {
      /** @description Price and overpayment of confirmed payments: a decimal as text. */
      gross: string;
      /** @description `gross` minus `fee` and `refunded`. */
      net: string;
      /** @description Part of the sum that was paid to the service as a fee. */
      fee: string;
      /** @description Refunded amount. */
      refunded: string;
      /** @description Number of payments. */
      count: number;
    };
    Analytics: {
      /** @description Date range of the figures. */
      window: {
        /**
         * Format: date
         * @description First day.
         */
        start: string;
        /**
         * Format: date
         * @description Last day.
         */
        end: string;
        /** @description Number of days. */
        days: number;
        /** @description IANA time zone, such as `Europe/Berlin`. Analytics use its days. */
        timezone: string;
      };
      /** @description Totals, separately for each asset. */
      totals: {
        /** @description Amounts paid in USDC. */
        USDC: components['schemas']['AssetTotals'];
        /** @description Amounts paid in SOL. */
        SOL: components['schemas']['AssetTotals'];
      };
      /** @description Checkouts that began in the window, by their current status. */
      funnel: {
        /** @description Number of started checkouts. */
        sessions: number;
        /** @description Number of pending checkouts. */
        pending: number;
        /** @description Number of confirmed payments. */
        confirmed: number;
        /** @description Number of failures. */
        failed: number;
        /** @description Number of expired objects. */
        expired: number;
        /** @description Share of started checkouts that were paid; null if no checkout started. */
        conversion_rate: number | null;
      };
      /** @description Figures of each day, oldest first. */
      daily: {
        /**
         * Format: date
         * @description Day of the figures.
         */
        date: string;
        /** @description Number of started checkouts. */
        sessions: number;
        /** @description Number of confirmed payments. */
        confirmed: number;
        /** @description Number of failures. */
        failed: number;
        /** @description Amounts paid in USDC. */
        USDC: components['schemas']['Sums'];
        /** @description Amounts paid in SOL. */
        SOL: components['schemas']['Sums'];
      }[];
      /** @description Ten products with the most payments. */
      top_products: {
        /** @description Identifier of the product. */
        product_id: string;
        /** @description Name of the product. */
        name: string;
        /** @description Number of payments. */
        count: number;
        /** @description Amounts paid in USDC. */
        USDC: components['schemas']['Sums'];
        /** @description Amounts paid in SOL. */
        SOL: components['schemas']['Sums'];
      }[];
      /** @description Membership changes. */
      members: {
        /** @description Number of new memberships. */
        new: number;
        /** @description Number of renewed memberships. */
        renewed: number;
        /** @description Number of expired objects. */
        expired: number;
        /** @description Number of active memberships. */
        active: number;
      };
      /** @description Deliveries that ended in the window; absent if none did. */
      webhooks: {
        /** @description Share of deliveries that succeeded. */
        success_rate?: number;
        /** @description 95th percentile of the response time in milliseconds. */
        p95_ms?: number;
      };
      /**
       * Format: date-time
       * @description Time of the figures.
       */
      as_of: string;
    };
    ApiKey: {
      /**
       * Format: uuid
       * @description Unique identifier.
       */
      id: string;
      /** @description Name of the key. */
      name: string;
      /** @description First characters of the key, to recognize it by. */
      key_prefix: string;
      /** @description Permissions of the key: `read`, or `execute` for writes as well. */
      permissions: ('read' | 'execute' | 'admin')[];
      /** @description True if the key acts only on sandbox objects. */
      sandbox_mode: boolean;
      /** @description Time of the last request with the key. */
      last_used_at: string | null;
      /**
       * Format: date-time
       * @description Time at which the object was created.
       */
      created_at: string;
      /** @description Time at which the key was revoked. */
      revoked_at: string | null;
      /** @description Usage of the key. */
      usage_summary: {
        /** @description Number of requests. */
        total_calls: number;
        /** @description Number of successful requests. */
        success_calls: number;
        /** @description Number of requests that were refused or failed. */
        error_calls: number;
        /** @description Number of customer units that the key consumed. */
        credits_burned: number;
        /** @description Time of the last request. */
        latest_activity_at: string | null;
        /** @description Path of the last request. */
        latest_endpoint: string | null;
      };
      /** @description Most recent requests. */
      recent_activity: {
        /**
         * Format: date-time
         * @description Time of the request.
         */
        at: string;
        /** @description HTTP method. */
        method: string;
        /** @description Path of the request. */
        endpoint: string;
        /** @description Status of the object. */
        status: number;
        /** @description Identifier of the request in the operator’s log. */
        request_id: string;
      }[];
    };
    CreateKeyRequest: {
      /** @description Name of the key, to recognize it by. */
      name: string;
      /**
       * @description True if the key acts only on sandbox objects.
       * @default false
       */
      sandbox_mode?: boolean;
      /**
       * @description Permissions of the key: `read`, or `execute` for writes as well.
       * @default [
       *       "read",
       *       "execute"
       *     ]
       */
      permissions?: ('read' | 'execute' | 'admin')[];
    };
    CreatedApiKey: {
      /** @description Key object, without its secret part. */
      key: components['schemas']['ApiKey'];
      /** @description Secret API key. Shown only in this response. Store it securely. */
      raw_key: string;
    };
    Maker: {
      /**
       * @description Kind of the creator: `key` or `person`.
       * @enum {string}
       */
      kind: 'key' | 'person';
      /**
       * Format: uuid
       * @description Identifier of the key or account.
       */
      id: string;
    };
    WebhookEndpoint: {
      /**
       * Format: uuid
       * @description Identifier of the endpoint.
       */
      endpoint_id: string;
      /**
       * @description Kind of the object.
       * @enum {string}
       */
      kind: 'webhook' | 'automation';
      /** @description URL that receives the events. */
      url: string;
      /** @description Your own description of the endpoint. */
      description?: string;
      /** @description Event types to send: `payment.confirmed`, a group such as `payment.*`, or `*`. GET /v1/webhooks/event-types lists them. */
      event_types: string[];
      /** @description Products to send events of; empty: all products. */
      product_ids: string[];
      /**
       * @description Status of the object.
       * @enum {string}
       */
      status: 'enabled' | 'disabled';
      /** @description Reason the endpoint is disabled. */
      disabled_reason?: string;
      /**
       * @description Bytes that `X-Svc-Signature` covers: `timestamp.body`, or the raw `body` alone.
       * @enum {string}
       */
      signed_payload: 'timestamp.body' | 'body';
      /** @description Last characters of the secret. */
      secret_hint: string;
      /**
       * Format: date-time
       * @description Time of the last successful attempt.
       */
      last_success_at?: string;
      /**
       * Format: date-time
       * @description Time of the last failed attempt.
       */
      last_failure_at?: string;
      /** @description Number of failed attempts since the last success. */
      failure_streak: number;
      /**
       * Format: date-time
       * @description Time since which all deliveries fail.
       */
      failing_since?: string;
      /**
       * Format: date-time
       * @description Time at which the endpoint is disabled, unless a delivery succeeds before.
       */
      disables_at?: string;
      /** @description True for real money, false for the sandbox. */
      livemode: boolean;
      /** @description Key or person that created the endpoint. */
      created_by: components['schemas']['Maker'];
      /** @description Key or person that last changed the URL or the secret. */
      changed_by?: components['schemas']['Maker'];
      /**
       * Format: date-time
       * @description Time at which the object was created.
       */
      created_at: string;
      /**
       * Format: date-time
       * @description Time of the last change to the object.
       */
      updated_at: string;
    };
    AutomationHook: components['schemas']['WebhookEndpoint'] & {
      /**
       * Format: uuid
       * @description Same as `endpoint_id`, for automation platforms that expect `id`.
       */
      id: string;
    };
    KeyResources: {
      /** @description Webhook endpoints. */
      endpoints: components['schemas']['WebhookEndpoint'][];
      /** @description Automation hooks. */
      hooks: components['schemas']['AutomationHook'][];
    };
    Money: {
      /**
       * @description Asset: `USDC` or `SOL`.
       * @enum {string}
       */
      asset: 'USDC' | 'SOL';
      /** @description Decimal amount as text, such as `12.5`. USDC has at most 6 decimals, SOL at most 9; more are refused. */
      amount: string;
      /** @description Amount in the smallest units of the asset: an integer as text. */
      base_units: string;
    };
    Offer: {
      /**
       * Format: uuid
       * @description Identifier of the product.
       */
      product_id: string;
      /** @description Last part of the checkout page’s URL: lower-case letters, digits and hyphens. Derived from the name by default. */
      slug: string;
      /** @description Name of the product. */
      name: string;
      /** @description Description of the product. */
      description?: string;
      /** @description Price. */
      price: components['schemas']['Money'];
      /** @description Assets that can currently be paid. Connect without an asset uses the first. Empty if nothing can be paid. */
      accepted_assets: ('USDC' | 'SOL')[];
      /**
       * @description Billing model: `one_off` is bought once, `recurring` is bought again for each period.
       * @enum {string}
       */
      billing_model: 'one_off' | 'recurring';
      /** @description Days of access per purchase; null: no time limit. */
      access_period_days: number | null;
      /** @description Units per purchase; null: no limit. */
      usage_units: number | null;
      /** @description Name of the units on the checkout page, such as `requests`. */
      unit_name?: string;
      /** @description Messaging platform on which buyers must prove their identity; null: no proof. */
      requires_identity: ('telegram' | 'discord') | null;
      /** @description Network: `mainnet` or `devnet`. */
      network: string;
      /** @description True for real money, false for the sandbox. */
      livemode: boolean;
      /** @description URL of the checkout page. */
      checkout_url: string;
      /** @description Seller. */
      merchant: {
        /** @description Name of the account, as buyers see it. */
        display_name: string;
        /** @description Brand name of the seller. */
        brand_name?: string;
        /** @description URL of the seller’s logo. */
        logo_url?: string;
        /** @description URL of a wide image above the product. */
        hero_image_url?: string;
        /** @description Color of the seller’s buttons, such as `#1a2b3c`. */
        accent_hex?: string;
        /** @description Label of the button that returns to the shop. */
        success_button_label?: string;
        /** @description URL of the seller’s support. */
        support_url?: string;
      };
    };
    MoneyInput: {
      /**
       * @description Asset: `USDC` or `SOL`.
       * @enum {string}
       */
      asset: 'USDC' | 'SOL';
      /** @description Decimal amount as text, such as `12.5`. USDC has at most 6 decimals, SOL at most 9; more are refused. */
      amount: string;
    };
    /** @description Chat or guild that gives access, claimed by the account. The platform must match the `product_type`. */
    DeliveryTarget:
      | {
          /**
           * @description Provider name.
           * @enum {string}
           */
          provider: 'telegram';
          /** @description Telegram chat id, as text. */
          chat_id: string;
        }
      | {
          /**
           * @description Provider name.
           * @enum {string}
           */
          provider: 'discord';
          /** @description Discord guild id, as text. */
          guild_id: string;
          /** @description Discord id of the role that members get. */
          role_id: string;
          /** @description Discord id of the channel for invitations of buyers outside the guild. */
          channel_id?: string;
        };
    CreateProductRequest: {
      /** @description Name of the product, as buyers see it. */
      name: string;
      /** @description Price. */
      price: components['schemas']['MoneyInput'];
      /** @description Last part of the checkout page’s URL: lower-case letters, digits and hyphens. Derived from the name by default. */
      slug?: string;
      /** @description Your own name for the product: up to 180 characters, unique within its mode. Send either this or `product_id`. */
      external_product_id?: string;
      /** @description Description of the product, as buyers see it. */
      description?: string;
      /**
       * @description Type of the product. `api` is sold by use; `link`, `telegram` and `discord` are sold by time. Sets the defaults of `usage_units` and `access_period_days`.
       * @default api
       * @enum {string}
       */
      product_type?: 'api' | 'link' | 'telegram' | 'discord';
      /** @description Assets that buyers may pay in. An asset other than that of the price is converted when the checkout begins. */
      accepted_assets?: ('USDC' | 'SOL')[];
      /**
       * @description Billing model: `one_off` is bought once, `recurring` is bought again for each period.
       * @enum {string}
       */
      billing_model?: 'one_off' | 'recurring';
      /** @description Renewal mode: `ONE_OFF` is renewed by the buyer, `AUTOMATIC` renews on the chain and requires a price in USDC and a period of 1 to 365 days. `solana_native_subscription` is an alias of `AUTOMATIC`. */
      renewal_mode?: ('ONE_OFF' | 'AUTOMATIC' | 'solana_native_subscription') | null;
      /** @description Days of access per purchase; null: no time limit. Defaults to 30, or to null for `api` products without automatic renewal. */
      access_period_days?: number | null;
      /** @description Units per purchase; null: no limit. Defaults to 1 for `api` products and null for all others. Send null to sell an API by time. */
      usage_units?: number | null;
      /** @description Name of the units on the checkout page, such as `requests`. */
      unit_name?: string;
      /** @description Solana wallet that receives the payments. Defaults to the wallet of the rail, then of the account. A product without any cannot be sold. Replace the one of an example with your own. */
      payout_wallet?: string;
      /** @description Hours of delivered access after the paid time, for late renewals. */
      grace_hours?: number;
      /** @description Duration of a checkout session, 300 to 3600 seconds; 900 by default. */
      session_seconds?: number;
      /** @description Messaging platform on which buyers must prove their identity before payment; null: no proof. The current value also applies to open payments: they are not confirmed without that identity, and money that still arrives is unmatched once they end. */
      requires_identity?: ('telegram' | 'discord') | null;
      /**
       * @description Rail that the checkout shows first.
       * @enum {string}
       */
      default_rail?: 'solana_usdc' | 'solana_sol' | 'solana_usdc_subscription' | 'x402_solana_usdc' | 'mpp_solana_usdc';
      /** @description Rails that may pay for this product. Defaults to all compatible rails. */
      allowed_rails?: ('solana_usdc' | 'solana_sol' | 'solana_usdc_subscription' | 'x402_solana_usdc' | 'mpp_solana_usdc')[];
      /**
       * Format: uuid
       * @description Application of your account in the same mode.
       */
      access_app_id?: string;
      /** @description Chat or guild that gives access, and the role of its members. */
      delivery?: components['schemas']['DeliveryTarget'];
      /**
       * Format: uri
       * @description https URL for buyers after payment; `payment_id` and `status` are added. A hint only: verify the payment from your server.
       */
      success_url?: string;
      /**
       * Format: uri
       * @description https URL for buyers who leave without payment.
       */
      cancel_url?: string;
      /** @description Your own key-value pairs, never shown to buyers: up to 50 keys of 40 characters, values of 500. An update merges; null removes a key. */
      metadata?: {
        [key: string]: string;
      };
      /** @description Confirmation that the product may be sold for real money over rails that require it. Plain checkout does not. */
      live_mode_confirmed?: boolean;
      /**
       * @description True to accept `customer_ref` only from your server, by payment session or hand-off. Otherwise buyers may name one at connect: it is unverified, and a purchase under a known one extends that membership without a change of its wallet or email address.
       * @default false
       */
      trusted_customer_ref?: boolean;
    };
    /** @description Resolution of a problem: a call, with your own values for each <…>, or a transaction. Without either, only the operator can resolve it. */
    Fix: {
      /** @description Human-readable message. Do not branch on it. */
      detail: string;
      /**
       * @description HTTP method.
       * @enum {string}
       */
      method?: 'GET' | 'POST' | 'PUT' | 'PATCH';
      /** @description Path to call. */
      path?: string;
      /** @description Request body to send. */
      body?: {
        [key: string]: unknown;
      };
      /** @description Unsigned transaction in base64. Sign it with the payout wallet and send it. */
      transaction?: string;
      /**
       * Format: uri
       * @description Page that explains the transaction and lets a wallet sign and send it.
       */
      sign_url?: string;
    };
    ProductWarning: {
      /**
       * @description Code of the warning.
       * @enum {string}
       */
      code: 'payout_wallet_missing' | 'rail_disabled' | 'plan_unpublished' | 'one_use_by_default';
      /** @description Description of the warning. */
      message: string;
      /** @description Call that resolves the problem. */
      fix: components['schemas']['Fix'];
    };
    CreatedProduct: components['schemas']['Product'] & {
      /** @description Missing requirements for a sale, and defaults that were chosen. Empty if none. */
      warnings: components['schemas']['ProductWarning'][];
    };
    Product: {
      /**
       * Format: uuid
       * @description Identifier of the product.
       */
      product_id: string;
      /** @description Last part of the checkout page’s URL: lower-case letters, digits and hyphens. Derived from the name by default. */
      slug: string;
      /** @description Your own name for the product: up to 180 characters, unique within its mode. Send either this or `product_id`. */
      external_product_id?: string;
      /**
       * Format: uuid
       * @description Identifier of the application that the product belongs to.
       */
      access_app_id?: string;
      /** @description Name of the product, as buyers see it. */
      name: string;
      /** @description Description of the product, as buyers see it. */
      description?: string;
      /**
       * @description Type of the product. `api` is sold by use; `link`, `telegram` and `discord` are sold by time. Sets the defaults of `usage_units` and `access_period_days`.
       * @enum {string}
       */
      product_type: 'api' | 'link' | 'telegram' | 'discord';
      /**
       * @description Status of the object.
       * @enum {string}
       */
      status: 'active' | 'archived';
      /** @description Price. */
      price: components['schemas']['Money'];
      /** @description Assets that buyers may pay in. An asset other than that of the price is converted when the checkout begins. */
      accepted_assets: ('USDC' | 'SOL')[];
      /**
       * @description Billing model: `one_off` is bought once, `recurring` is bought again for each period.
       * @enum {string}
       */
      billing_model: 'one_off' | 'recurring';
      /**
       * @description Renewal mode: `ONE_OFF` is renewed by the buyer, `AUTOMATIC` renews on the chain and requires a price in USDC and a period of 1 to 365 days. `solana_native_subscription` is an alias of `AUTOMATIC`.
       * @enum {string}
       */
      renewal_mode: 'ONE_OFF' | 'AUTOMATIC';
      /** @description Days of access per purchase; null: no time limit. */
      access_period_days: number | null;
      /** @description Units per purchase; null: no limit. */
      usage_units: number | null;
      /** @description Name of the units on the checkout page, such as `requests`. */
      unit_name?: string;
      /** @description Solana wallet that receives the payments. */
      payout_wallet?: string;
      /** @description Rail that the checkout shows first. */
      default_rail: string;
      /** @description Rails that may pay for this product. Defaults to all compatible rails. */
      allowed_rails: string[];
      /** @description Hours of delivered access after the paid time, for late renewals. */
      grace_hours: number;
      /** @description Duration of a checkout session, 300 to 3600 seconds; 900 by default. */
      session_seconds?: number;
      /** @description Messaging platform on which buyers must prove their identity; null: no proof. */
      requires_identity: ('telegram' | 'discord') | null;
      /** @description Chat or guild that gives access, and the role of its members. */
      delivery?: components['schemas']['DeliveryTarget'];
      /** @description https URL for buyers after payment; `payment_id` and `status` are added. A hint only: verify the payment from your server. */
      success_url?: string;
      /** @description https URL for buyers who leave without payment. */
      cancel_url?: string;
      /** @description Your own key-value pairs, never shown to buyers: up to 50 keys of 40 characters, values of 500. An update merges; null removes a key. */
      metadata: {
        [key: string]: string;
      };
      /** @description Confirmation that the product may be sold for real money over rails that require it. Plain checkout does not. */
      live_mode_confirmed: boolean;
      /** @description True if a `customer_ref` is accepted only from your own server, never from the public checkout. */
      trusted_customer_ref: boolean;
      /** @description True for real money, false for the sandbox. */
      livemode: boolean;
      /** @description URL of the checkout page. */
      checkout_url: string;
      /**
       * Format: date-time
       * @description Time at which the object was created.
       */
      created_at: string;
      /**
       * Format: date-time
       * @description Time of the last change to the object.
       */
      updated_at: string;
    };
    UpdateProductRequest: {
      /** @description Name of the product, as buyers see it. */
      name?: string;
      /** @description Price. */
      price?: components['schemas']['MoneyInput'];
      /** @description Your own name for the product: up to 180 characters, unique within its mode. Send either this or `product_id`. */
      external_product_id?: string | null;
      /** @description Description of the product, as buyers see it. */
      description?: string | null;
      /**
       * @description Type of the product. `api` is sold by use; `link`, `telegram` and `discord` are sold by time. Sets the defaults of `usage_units` and `access_period_days`.
       * @default api
       * @enum {string}
       */
      product_type?: 'api' | 'link' | 'telegram' | 'discord';
      /** @description Assets that buyers may pay in. An asset other than that of the price is converted when the checkout begins. */
      accepted_assets?: ('USDC' | 'SOL')[];
      /**
       * @description Billing model: `one_off` is bought once, `recurring` is bought again for each period.
       * @enum {string}
       */
      billing_model?: 'one_off' | 'recurring';
      /** @description Renewal mode: `ONE_OFF` is renewed by the buyer, `AUTOMATIC` renews on the chain and requires a price in USDC and a period of 1 to 365 days. `solana_native_subscription` is an alias of `AUTOMATIC`. */
      renewal_mode?: ('ONE_OFF' | 'AUTOMATIC' | 'solana_native_subscription') | null;
      /** @description Days of access per purchase; null: no time limit. Defaults to 30, or to null for `api` products without automatic renewal. */
      access_period_days?: number | null;
      /** @description Units per purchase; null: no limit. Defaults to 1 for `api` products and null for all others. Send null to sell an API by time. */
      usage_units?: number | null;
      /** @description Name of the units on the checkout page, such as `requests`. */
      unit_name?: string | null;
      /** @description Solana wallet that receives the payments. */
      payout_wallet?: string | null;
      /** @description Hours of delivered access after the paid time, for late renewals. */
      grace_hours?: number;
      /** @description Duration of a checkout session, 300 to 3600 seconds; 900 by default. */
      session_seconds?: number | null;
      /** @description Messaging platform on which buyers must prove their identity before payment; null: no proof. The current value also applies to open payments: they are not confirmed without that identity, and money that still arrives is unmatched once they end. */
      requires_identity?: ('telegram' | 'discord') | null;
      /**
       * @description Rail that the checkout shows first.
       * @enum {string}
       */
      default_rail?: 'solana_usdc' | 'solana_sol' | 'solana_usdc_subscription' | 'x402_solana_usdc' | 'mpp_solana_usdc';
      /** @description Rails that may pay for this product. Defaults to all compatible rails. */
      allowed_rails?: ('solana_usdc' | 'solana_sol' | 'solana_usdc_subscription' | 'x402_solana_usdc' | 'mpp_solana_usdc')[];
      /** @description Identifier of the application that the product belongs to. */
      access_app_id?: string | null;
      /** @description Chat or guild that gives access, and the role of its members. */
      delivery?: components['schemas']['DeliveryTarget'];
      /** @description https URL for buyers after payment; `payment_id` and `status` are added. A hint only: verify the payment from your server. */
      success_url?: string | null;
      /** @description https URL for buyers who leave without payment. */
      cancel_url?: string | null;
      /** @description Your own key-value pairs, never shown to buyers: up to 50 keys of 40 characters, values of 500. An update merges; null removes a key. */
      metadata?: {
        [key: string]: string | null;
      };
      /** @description Confirmation that the product may be sold for real money over rails that require it. Plain checkout does not. */
      live_mode_confirmed?: boolean;
      /**
       * @description True to accept `customer_ref` only from your server, by payment session or hand-off. Otherwise buyers may name one at connect: it is unverified, and a purchase under a known one extends that membership without a change of its wallet or email address.
       * @default false
       */
      trusted_customer_ref?: boolean;
    };
    ProductPage: {
      /** @description Entries of this page. */
      items: components['schemas']['Product'][];
      /** @description Page number, from 1. */
      page: number;
      /** @description Maximum number of entries per page. */
      per_page: number;
      /** @description Number of entries on all pages. Exact up to 10,000, with some filters up to 2,000: the description of each list names them. */
      total: number;
      /** @description Number of pages. */
      total_pages: number;
      /** @description True if another page follows. */
      has_more: boolean;
      /**
       * @description False if the list has more entries than `total`.
       * @enum {boolean}
       */
      total_exact?: false;
    };
    ConnectRequest: {
      /**
       * @description Asset that the buyer pays in: one of the product’s `accepted_assets`. Defaults to the asset of the price.
       * @enum {string}
       */
      asset?: 'USDC' | 'SOL';
      /** @description Wallet of the buyer. With it, the response contains a transaction to sign. */
      wallet_address?: string;
      /**
       * Format: email
       * @description Email address.
       */
      email?: string;
      /** @description Your own name for the buyer; identifies membership and entitlement. Sent by the buyer, it is unverified: it extends a known membership and never changes its wallet or email address. Refused with 422 if the product has `trusted_customer_ref`. */
      customer_ref?: string;
      /** @description Language of the buyer, such as `pt-BR` (BCP 47) or `pt_BR`: one of en, es, de, fr, pt-BR, ja, in any region. Stored with the payment. */
      locale?: string;
      /** @description Token of a hand-off, from its link. */
      handoff_token?: string;
      /**
       * Format: uuid
       * @description Identifier of the session in which a buyer proves their identity.
       */
      identity_session_id?: string;
      /**
       * Format: uuid
       * @description Payment session from POST /v1/access/payment-sessions. Its price, customer and success URL take precedence. It is paid once.
       */
      payment_session_id?: string;
      /**
       * Format: uuid
       * @description Unsigned payment of this product to replace. It fails with `replaced`, and the response is a new payment, in `asset` or with a new expiry. Price, customer, identity, session and hand-off are copied; other fields are ignored. Money that still arrives for the old payment is unmatched. Refused with 409 `in_flight` while a transaction of the old payment may land.
       */
      replaces_payment_id?: string;
    };
    Subscribing: {
      /** @description Identifier of the native subscription: the buyer’s consent to one collection per period. */
      authorization_id: string;
      /** @description Address of the on-chain plan: price, period and destination. No party can change it. */
      plan_address: string;
      /** @description Address of the subscription account, derived from the plan and the wallet. */
      subscription_address: string;
      /** @description Length of a period in hours. */
      period_hours: number;
      /** @description Remaining steps to sign, in order. If empty, the first period is collected next. */
      steps: {
        /**
         * @description Kind of the step. `approve`: allows the subscriptions program to collect, once for all subscriptions of the wallet; for a wallet that is already subscribed it proves ownership of the checkout. `subscribe`: accepts the terms of this subscription. `resume`: withdraws a cancellation. `revoke`: ends a subscription that cannot continue.
         * @enum {string}
         */
        kind: 'approve' | 'subscribe' | 'resume' | 'revoke';
        /** @description Unsigned transaction in base64. Sign it and send it to POST /v1/payments/{payment_id}/transaction. Absent until the previous step has landed: GET /v1/payments/{payment_id} returns it then. */
        transaction?: string;
        /** @description Last block height at which the transaction is valid. Request a new transaction afterwards. */
        last_valid_block_height?: number;
      }[];
      /**
       * @description Reason `steps` is empty although steps remain. `refused`: the network would refuse the next step, usually because the wallet holds too little SOL. `plan_missing`: the plan accepts no further subscribers. `ending`: a cancelled subscription must end first. `subscribed`: the wallet is already subscribed and its period is paid. `unavailable`: no node responds.
       * @enum {string}
       */
      problem?: 'refused' | 'plan_missing' | 'ending' | 'subscribed' | 'unavailable';
      /** @description Page at which the buyer views and cancels the existing subscription, if `problem` is `subscribed`. */
      manage_url?: string;
    };
    PriceQuote: {
      /** @description Price of one SOL in USDC. USDC counts as one dollar. */
      rate: string;
      /** @description Source of the exchange rate. */
      source: string;
      /**
       * Format: date-time
       * @description Time of the exchange rate.
       */
      as_of: string;
      /**
       * Format: date-time
       * @description Time of expiry.
       */
      expires_at: string;
    };
    /** @description Ten largest amounts that arrived and do not pay this payment, until the merchant accepts them. Buyer view only. */
    SeenMoney: {
      /** @description Amount that arrived. */
      amount: components['schemas']['Money'];
      /** @description Signature of the transaction. */
      tx_signature: string;
      /**
       * @description Reason the money was not matched: `late`, `underpaid`, `second_payment` or `identity_missing`.
       * @enum {string}
       */
      reason: 'late' | 'underpaid' | 'second_payment' | 'identity_missing';
    }[];
    ConnectResponse: {
      /**
       * Format: date-time
       * @description Business time of this response. Count down to `expires_at` from this time, not from the device's clock.
       */
      now: string;
      /**
       * Format: uuid
       * @description Identifier of the payment. It grants access to the payment’s status.
       */
      payment_id: string;
      /**
       * @description Status of the payment. `PENDING_CONFIRMATION` only if the payment session already has a payment in flight: wait, do not pay again.
       * @enum {string}
       */
      status: 'PENDING_SIGNATURE' | 'PENDING_CONFIRMATION';
      /** @description Unique part of the memo. */
      nonce: string;
      /** @description Memo that the transaction must carry to be matched to this payment. */
      memo: string;
      /** @description Price. */
      price: components['schemas']['Money'];
      /** @description Wallet that receives the payment. */
      recipient: string;
      /** @description Service fee, paid in the same transaction as the price; absent if none applies. */
      fee?: {
        /** @description Wallet that receives the payment. */
        recipient: string;
        /**
         * @description Asset: `USDC` or `SOL`.
         * @enum {string}
         */
        asset: 'USDC' | 'SOL';
        /** @description Decimal amount as text, such as `12.5`. USDC has at most 6 decimals, SOL at most 9; more are refused. */
        amount: string;
        /** @description Amount in the smallest units of the asset: an integer as text. */
        base_units: string;
      };
      /** @description Network in CAIP-2. */
      network: string;
      /** @description Mint address of the token; absent for SOL. */
      mint?: string;
      /** @description Number of decimals of the asset. */
      decimals: number;
      /** @description Read-only keys that the transaction must include. The service finds payments by them. */
      references: string[];
      /** @description `solana:` URL to show as a QR code. Absent for subscriptions: the buyer signs `subscription.steps`. */
      solana_pay_url?: string;
      /** @description Unsigned transaction in base64. Sign it and send it to POST /v1/payments/{payment_id}/transaction. */
      transaction?: string;
      /** @description Last block height at which the transaction is valid. Request a new transaction afterwards. */
      last_valid_block_height?: number;
      /** @description Steps of a product that renews automatically. */
      subscription?: components['schemas']['Subscribing'];
      /** @description Exchange rate of the payment, if the buyer pays in another asset than that of the price. */
      price_quote?: components['schemas']['PriceQuote'];
      /** @description Money that arrived and does not pay this payment. Visible to the buyer only. */
      seen?: components['schemas']['SeenMoney'];
      /**
       * Format: date-time
       * @description Time of expiry.
       */
      expires_at: string;
      /** @description URL of the payment’s status. */
      status_url: string;
      /** @description Milliseconds to wait before the next poll; null if the status is final. */
      poll_after_ms: number | null;
    };
    /** @description Identity required before payment: call POST /v1/products/p/{slug}/identity, then connect again with its identity_session_id. */
    IdentityNeeded: {
      /** @description Identity requirement of the product. */
      identity: {
        /**
         * @description True if it is required before payment.
         * @enum {boolean}
         */
        required: true;
        /**
         * @description Provider name.
         * @enum {string}
         */
        provider: 'telegram' | 'discord';
      };
    };
    SolanaPayLabel: {
      /** @description Name of the party that requests the payment. */
      label: string;
      /**
       * Format: uri
       * @description URL of an image for the label.
       */
      icon: string;
    };
    SolanaPayRequest: {
      /** @description Wallet that will sign, as Solana Pay sends it. */
      account: string;
    } & {
      [key: string]: unknown;
    };
    SolanaPayTransaction: {
      /** @description Solana transaction in base64. Unsigned if the service created it. */
      transaction: string;
      /** @description Message that the wallet shows. */
      message: string;
    };
    SendTransactionRequest: {
      /** @description Solana transaction in base64. Unsigned if the service created it. */
      transaction: string;
    };
    UnmatchedPayment: {
      /**
       * Format: uuid
       * @description Identifier of the unmatched payment.
       */
      unmatched_id: string;
      /**
       * Format: uuid
       * @description Identifier of the payment. It grants access to the payment’s status.
       */
      payment_id: string;
      /** @description Signature of the transaction. */
      tx_signature: string;
      /** @description Amount that arrived. */
      amount: components['schemas']['Money'];
      /** @description Wallet that paid. */
      payer_wallet: string;
      /**
       * Format: date-time
       * @description Time of the block.
       */
      block_time: string;
      /**
       * @description Reason the money was not matched: `late`, `underpaid`, `second_payment` or `identity_missing`.
       * @enum {string}
       */
      reason: 'late' | 'underpaid' | 'second_payment' | 'identity_missing';
      /**
       * @description Status of the object.
       * @enum {string}
       */
      status: 'open' | 'accepted';
      /**
       * Format: uuid
       * @description Identifier of the payment that was created when you accepted this money.
       */
      recovered_payment_id?: string;
    };
    Refund: {
      /** @description Refunded amount. */
      amount: components['schemas']['Money'];
      /** @description Signature of the transaction. */
      tx_signature: string;
      /**
       * Format: date-time
       * @description Time of the refund.
       */
      at: string;
    };
    /** @description Access of the buyer. Shown only with the buyer’s `X-Svc-Identity-Session`. */
    BuyersDelivery: {
      /**
       * @description Status of the object.
       * @enum {string}
       */
      status: 'not_required' | 'pending' | 'delivered' | 'failed' | 'revoked';
      /** @description Invitation of this buyer. */
      invite_url?: string;
      /** @description Error of the last attempt, as the platform reports it; `not_a_member`: the buyer was invited and has not joined. */
      last_error?: string;
    };
    Payment: {
      /**
       * Format: uuid
       * @description Identifier of the payment. It grants access to the payment’s status.
       */
      payment_id: string;
      /**
       * @description Origin of the payment.
       * @enum {string}
       */
      kind: 'checkout' | 'x402' | 'metered' | 'renewal' | 'recovered';
      /** @description Payment rail. GET /v1/access/rails lists them. */
      rail_id: string;
      /**
       * Format: uuid
       * @description Identifier of the product.
       */
      product_id: string;
      /** @description Last part of the checkout page’s URL: lower-case letters, digits and hyphens. Derived from the name by default. */
      slug: string;
      /**
       * @description Status of the object.
       * @enum {string}
       */
      status: 'PENDING_SIGNATURE' | 'PENDING_CONFIRMATION' | 'CONFIRMED' | 'FAILED';
      /**
       * @description Reason the payment failed, as a code.
       * @enum {string}
       */
      failure_code?: 'session_expired' | 'underpaid' | 'transaction_failed' | 'replaced' | 'collection_failed';
      /** @description Human-readable form of `failure_code`. */
      failure_reason?: string;
      /** @description Price of this payment, fixed when the session began. */
      price: components['schemas']['Money'];
      /** @description Service fee, paid in the same transaction as the price; absent if none applies. */
      fee?: components['schemas']['Money'];
      /** @description Service fee that this transaction did not pay, because the merchant received the whole amount. */
      fee_owed?: components['schemas']['Money'];
      /** @description Amount for the merchant after the fee. Merchant view only. */
      net?: components['schemas']['Money'];
      /** @description Amount above the price. */
      overpaid?: components['schemas']['Money'];
      /** @description Wallet that paid. */
      payer_wallet?: string;
      /** @description Wallet that receives the payment. */
      recipient_wallet: string;
      /** @description Memo that the transaction must carry to be matched to this payment. */
      memo: string;
      /** @description Read-only keys that the transaction must include. The service finds payments by them. */
      references: string[];
      /** @description Signature of the transaction. */
      tx_signature?: string;
      /** @description Slot of the block. */
      slot?: number;
      /**
       * Format: date-time
       * @description Time of the block.
       */
      block_time?: string;
      /**
       * Format: date-time
       * @description Time at which the payment was confirmed on the chain.
       */
      confirmed_at?: string;
      /**
       * Format: date-time
       * @description Time at which the payment became final.
       */
      finalized_at?: string;
      /**
       * Format: date-time
       * @description Time at which the chain dropped the confirmed transaction. Access was revoked, and is restored if the transaction lands after all.
       */
      orphaned_at?: string;
      /**
       * Format: date-time
       * @description Time of expiry.
       */
      expires_at: string;
      /** @description Your own name for the customer. Merchant view only. */
      customer_ref?: string;
      /**
       * Format: uuid
       * @description Identifier of the membership.
       */
      membership_id?: string;
      /**
       * Format: uuid
       * @description Identifier of the receipt.
       */
      receipt_id?: string;
      /**
       * Format: uuid
       * @description Identifier of the payment that this money had missed.
       */
      recovers_payment_id?: string;
      /** @description Exchange rate, if the price was converted into the paid asset. */
      price_quote?: components['schemas']['PriceQuote'];
      /** @description Identity that the buyer proved. Merchant view only. */
      buyer_identity?: {
        /**
         * @description Provider name.
         * @enum {string}
         */
        provider: 'telegram' | 'discord';
        /** @description Buyer’s user id on the messaging platform. */
        provider_user_id: string;
        /** @description Buyer’s user name on the messaging platform. */
        username?: string;
      };
      /** @description Metadata of the payment session, else of the hand-off. Merchant view only. */
      metadata?: {
        [key: string]: string;
      };
      /** @description Ten largest unmatched amounts. Each one has an event, and is accepted by its signature. Merchant view only. */
      unmatched?: components['schemas']['UnmatchedPayment'][];
      /** @description Money that arrived and does not pay this payment. Visible to the buyer only. */
      seen?: components['schemas']['SeenMoney'];
      /** @description Refunds to the paying wallet, as found on the chain. */
      refunded?: components['schemas']['Refund'][];
      /**
       * Format: date-time
       * @description End of the buyer’s access by a confirmed payment, later purchases included. Absent if the access has no end. Buyer view only.
       */
      access_until?: string;
      /** @description Access of the buyer to the chat or guild. Shown only with the buyer’s `X-Svc-Identity-Session`. */
      delivery?: components['schemas']['BuyersDelivery'];
      /** @description Current state of the native subscription of a confirmed payment. Buyer view only. */
      renewal?: {
        /**
         * @description Status of the object.
         * @enum {string}
         */
        status: 'pending' | 'active' | 'past_due' | 'requires_reapproval' | 'cancel_requested' | 'cancelled' | 'expired';
        /**
         * Format: date-time
         * @description Time of the next charge. Absent if nothing further is charged.
         */
        next_charge_at?: string;
      };
      /** @description Identifier of the native subscription that paid. */
      authorization_id?: string;
      /** @description Remaining steps of a checkout that starts a subscription, while it can be paid. */
      subscription?: components['schemas']['Subscribing'];
      /** @description True for real money, false for the sandbox. */
      livemode: boolean;
      /**
       * Format: date-time
       * @description Time at which the object was created.
       */
      created_at: string;
      /**
       * Format: date-time
       * @description Time of the last change to the object.
       */
      updated_at: string;
      /** @description Version of the object. Each change increases it. */
      version: number;
      /** @description Milliseconds to wait before the next poll; null if the status is final. */
      poll_after_ms: number | null;
    };
    SendTransactionResponse: {
      /** @description Current state of the payment. */
      payment: components['schemas']['Payment'];
      /** @description Signature of the transaction. */
      tx_signature: string;
    };
    HandoffRequest: {
      /** @description Your own name for the customer: 1 to 180 characters, no control characters, no leading or trailing space. Compared after Unicode NFC. */
      customer_ref?: string;
      /**
       * Format: email
       * @description Email address.
       */
      email?: string;
      /** @description Address of a Solana wallet. */
      wallet_address?: string;
      /**
       * Format: uri
       * @description https URL for buyers after payment; `payment_id` and `status` are added. A hint only: verify the payment from your server.
       */
      success_url?: string;
      /** @description Your own key-value pairs, never shown to buyers: up to 50 keys of 40 characters, values of 500. An update merges; null removes a key. */
      metadata?: {
        [key: string]: string;
      };
    };
    Handoff: {
      /** @description Token of a hand-off, from its link. */
      handoff_token: string;
      /** @description Link for the buyer. Valid for one payment. */
      url: string;
      /**
       * Format: date-time
       * @description Time of expiry.
       */
      expires_at: string;
    };
    ResolvedHandoff: {
      /**
       * Format: uuid
       * @description Identifier of the product.
       */
      product_id: string;
      /** @description Last part of the checkout page’s URL: lower-case letters, digits and hyphens. Derived from the name by default. */
      slug: string;
      /** @description Shortened name, for the buyer to recognize. */
      customer_label?: string;
      /**
       * Format: date-time
       * @description Time of expiry.
       */
      expires_at: string;
    };
    IdentitySession: {
      /**
       * Format: uuid
       * @description Identifier of the session in which a buyer proves their identity.
       */
      identity_session_id: string;
      /**
       * @description Provider name.
       * @enum {string}
       */
      provider: 'telegram' | 'discord';
      /** @description URL to send the buyer to. */
      deep_link: string;
      /**
       * Format: date-time
       * @description Time of expiry.
       */
      expires_at: string;
    };
    ConnectorIdentity: {
      /**
       * Format: uuid
       * @description Identifier of the session in which a buyer proves their identity.
       */
      identity_session_id: string;
      /** @description Buyer’s user id on the messaging platform. */
      provider_user_id: string;
      /** @description Buyer’s user name on the messaging platform. */
      username?: string;
      /** @description Grant by which Discord lets the service add the buyer to a guild. Stored encrypted, used once, then erased. */
      grant?: {
        /** @description Access token of the buyer at the platform. Used once to admit the buyer, then erased. */
        access_token: string;
        /**
         * Format: date-time
         * @description Time of expiry.
         */
        expires_at: string;
      };
    };
    CompletedIdentity: {
      /**
       * Format: uuid
       * @description Identifier of the session in which a buyer proves their identity.
       */
      identity_session_id: string;
      /**
       * @description Provider name.
       * @enum {string}
       */
      provider: 'telegram' | 'discord';
      /** @description Buyer’s user id on the messaging platform. */
      provider_user_id: string;
      /** @description Buyer’s user name on the messaging platform. */
      username?: string;
      /**
       * @description Status of the object.
       * @enum {string}
       */
      status: 'completed';
      /**
       * Format: date-time
       * @description Time at which the buyer proved their identity.
       */
      completed_at: string;
      /**
       * Format: date-time
       * @description Time of expiry.
       */
      expires_at: string;
    };
    PaymentPage: {
      /** @description Entries of this page. */
      items: components['schemas']['Payment'][];
      /** @description Page number, from 1. */
      page: number;
      /** @description Maximum number of entries per page. */
      per_page: number;
      /** @description Number of entries on all pages. Exact up to 10,000, with some filters up to 2,000: the description of each list names them. */
      total: number;
      /** @description Number of pages. */
      total_pages: number;
      /** @description True if another page follows. */
      has_more: boolean;
      /**
       * @description False if the list has more entries than `total`.
       * @enum {boolean}
       */
      total_exact?: false;
    };
    AcceptUnmatchedRequest: {
      /** @description Signature of the transaction. */
      tx_signature: string;
    };
    ReceiptRequest: {
      /** @description Signature of the transaction. */
      tx_sig: string;
    };
    ReceiptDocument: {
      /**
       * @description Version of the document format.
       * @enum {string}
       */
      version: '1' | '2';
      /**
       * Format: uuid
       * @description Identifier of the receipt.
       */
      receipt_id: string;
      /** @description Signature of the transaction. */
      tx_sig: string;
      /** @description Network in CAIP-2. */
      network: string;
      /** @description Slot of the block. */
      slot: number;
      /**
       * Format: date-time
       * @description Time of the block.
       */
      block_time: string;
      /** @description Wallet that paid. */
      payer: string;
      /** @description Wallet that receives the payment. */
      recipient: string;
      /** @description Paid amount. */
      amount: components['schemas']['Money'];
      /** @description Service fee, paid in the same transaction as the price; absent if none applies. */
      fee?: components['schemas']['Money'];
      /**
       * Format: uuid
       * @description Identifier of the product.
       */
      product_id: string;
      /** @description Name of the product at the time of payment. */
      product_name: string;
      /** @description Seller. */
      merchant: {
        /**
         * Format: uuid
         * @description Identifier of the account.
         */
        account_id: string;
        /** @description Name of the account, as buyers see it. */
        display_name: string;
      };
      /** @description Memo that the transaction must carry to be matched to this payment. */
      memo: string;
      /**
       * Format: date-time
       * @description Time of issue.
       */
      issued_at: string;
      /** @description True for real money, false for the sandbox. */
      livemode: boolean;
      /** @description Exchange rate, if the price had another asset than the payment. From version 2. */
      price_quote?: {
        /** @description Price before conversion. */
        price: components['schemas']['Money'];
        /** @description Units of the price’s asset for one unit of the paid asset: a decimal as text. */
        rate: string;
        /** @description Source of the exchange rate. */
        source: string;
        /**
         * Format: date-time
         * @description Time of the exchange rate.
         */
        as_of: string;
      };
      /** @description Operator of the service. From version 2. */
      operator?: {
        /** @description Name of the operator. */
        name: string;
        /** @description URL of the operator. */
        url: string;
      };
    };
    InvoiceLine: {
      /** @description Description of the line. */
      description: string;
      /** @description Quantity: a decimal as text. */
      quantity: string;
      /** @description Decimal amount of the line as text. For display only. */
      amount: string;
    };
    InvoiceMetadata: {
      /** @description Your invoice number. */
      invoice_number?: string;
      /** @description Text of your own, such as an order number. */
      reference?: string;
      /**
       * Format: date
       * @description Date of the invoice, such as `2026-11-21`.
       */
      issued_on?: string;
      /**
       * Format: date
       * @description Due date of the invoice, such as `2026-12-21`.
       */
      due_on?: string;
      /** @description Further notes. */
      notes?: string;
      /** @description Lines of the invoice. */
      lines?: components['schemas']['InvoiceLine'][];
      /** @description Seller, as the invoice names it. */
      seller?: {
        /** @description Name of the party. */
        name?: string;
        /** @description Postal address. */
        address?: string;
        /** @description Tax number. */
        tax_id?: string;
      };
      /** @description Billed party. */
      bill_to?: {
        /** @description Name of the party. */
        name?: string;
        /** @description Postal address. */
        address?: string;
        /** @description Tax number. */
        tax_id?: string;
        /**
         * Format: email
         * @description Email address.
         */
        email?: string;
      };
      /** @description Included tax. */
      tax?: {
        /** @description Name of the tax. */
        label?: string;
        /** @description Rate in percent: a decimal as text. */
        rate_percent?: string;
        /** @description Decimal amount of the tax as text. */
        amount?: string;
      };
    };
    Receipt: {
      /**
       * Format: uuid
       * @description Identifier of the receipt.
       */
      receipt_id: string;
      /** @description Signature of the transaction. */
      tx_sig: string;
      /** @description Signed document, as its RFC 8785 bytes. */
      document: components['schemas']['ReceiptDocument'];
      /** @description SHA-256 of the document’s bytes, in hex. */
      sha256: string;
      /** @description Ed25519 signature over the bytes, in base58. */
      signature: string;
      /** @description Identifier of the signing key, published at `/.well-known/svc-receipt-keys.json`. */
      key_id: string;
      /** @description URL at which the service verifies the receipt. */
      verify_url: string;
      /** @description URL of the public proof page. */
      public_url: string;
      /** @description Position in the receipt chain. An account has one chain per mode and `direction`: received payments, and payments for plans. Merchant view only. */
      link?: {
        /** @description Position of the receipt in its receipt chain, from 1. */
        seq: number;
        /** @description Hash of the previous link: the lower-case hex SHA-256 over the RFC 8785 bytes of `{"prev_hash": its prev_hash, "seq": its seq, "sha256": the sha256 of its receipt}`. The first link (`seq` 1) of a chain has 64 zeros. */
        prev_hash: string;
      };
      /** @description Invoice metadata of the merchant. Merchant view only. */
      invoice_metadata?: components['schemas']['InvoiceMetadata'];
      /**
       * Format: date-time
       * @description Time at which the object was created.
       */
      created_at: string;
    };
    RefundTransactionRequest: {
      /** @description Amount to refund. Defaults to the rest of price and overpayment. */
      amount?: {
        /**
         * @description Asset: `USDC` or `SOL`.
         * @enum {string}
         */
        asset: 'USDC' | 'SOL';
        /** @description Decimal amount as text, such as `12.5`. USDC has at most 6 decimals, SOL at most 9; more are refused. */
        amount: string;
      };
      /**
       * @description True to revoke what the payment bought once the refund is found, and to stop the subscription that it paid a period of.
       * @default false
       */
      revoke_access?: boolean;
    };
    RefundTransaction: {
      /** @description Solana transaction in base64. Unsigned if the service created it. */
      transaction: string;
      /**
       * Format: date-time
       * @description Time of expiry.
       */
      expires_at: string;
    };
    ConfirmRefundRequest: {
      /** @description Signature of the transaction. */
      tx_signature: string;
    };
    CurrentPayment: components['schemas']['Payment'] & {
      /**
       * Format: date-time
       * @description Business time of this response. Count down to `expires_at` from this time, not from the device's clock.
       */
      now: string;
    };
    ConfirmRequest: {
      /**
       * Format: uuid
       * @description Identifier of the payment. It grants access to the payment’s status.
       */
      payment_id: string;
      /** @description Signature of the transaction. */
      tx_signature: string;
    };
    ConfirmResponse: {
      /**
       * Format: date-time
       * @description Business time of this response. Count down to `expires_at` from this time, not from the device's clock.
       */
      now: string;
      /** @description Current state of the payment. */
      payment: components['schemas']['Payment'];
      /**
       * Format: uuid
       * @description Identifier of the membership.
       */
      membership_id?: string;
      /**
       * Format: uuid
       * @description Identifier of the receipt.
       */
      receipt_id?: string;
      /** @description URL to send the buyer to next. */
      redirect_url?: string;
      /** @description True if the payment was confirmed before this call. */
      already_confirmed: boolean;
    };
    ChainWebhookResponse: {
      /** @description Number of transactions accepted for processing. */
      accepted: number;
    };
    /** @description Access to a chat or guild. Independent of the payment. */
    MembershipDelivery: {
      /**
       * @description Status of the object.
       * @enum {string}
       */
      status: 'not_required' | 'pending' | 'delivered' | 'failed' | 'revoked';
      /**
       * @description Provider name.
       * @enum {string}
       */
      provider?: 'telegram' | 'discord';
      /** @description Number of attempts. */
      attempts: number;
      /** @description Identity requirement of the product. */
      identity?: {
        /** @description Buyer’s user id on the messaging platform. */
        provider_user_id: string;
        /** @description Buyer’s user name on the messaging platform. */
        username?: string;
      };
      /** @description Invitation of this member. Events never contain it. */
      invite_url?: string;
      /** @description Error of the last attempt, as the platform reports it; `not_a_member`: the buyer was invited and has not joined. */
      last_error?: string;
      /**
       * Format: date-time
       * @description Time at which the buyer was admitted.
       */
      delivered_at?: string;
    };
    Membership: {
      /**
       * Format: uuid
       * @description Identifier of the membership.
       */
      membership_id: string;
      /**
       * Format: uuid
       * @description Identifier of the product.
       */
      product_id: string;
      /** @description Customer: a wallet, or your own name for the customer. Requests name exactly one. */
      customer: {
        /** @description Address of a Solana wallet. */
        wallet_address?: string;
        /** @description Your own name for the customer: 1 to 180 characters, no control characters, no leading or trailing space. Compared after Unicode NFC. */
        customer_ref?: string;
        /** @description Email address. */
        email?: string;
      };
      /**
       * @description Status of the object.
       * @enum {string}
       */
      status: 'pending' | 'active' | 'grace' | 'expired' | 'cancelled';
      /** @description End of the paid time; null: no end. */
      paid_through: string | null;
      /**
       * Format: date-time
       * @description Time until which delivered access continues after the paid time.
       */
      grace_until?: string;
      /** @description End of delivered access: paid time plus grace; null: no end. */
      expires_at: string | null;
      /** @description Identifier of the native subscription that pays for the membership. */
      authorization_id?: string;
      /**
       * @description Status of the native subscription that pays for the membership.
       * @enum {string}
       */
      subscription_status?: 'pending' | 'active' | 'past_due' | 'requires_reapproval' | 'cancel_requested' | 'cancelled' | 'expired';
      /** @description True if the subscription ends with the paid period. */
      cancel_at_period_end: boolean;
      /**
       * Format: date-time
       * @description Time of the cancellation.
       */
      cancelled_at?: string;
      /** @description Delivery status of the access. */
      delivery: components['schemas']['MembershipDelivery'];
      /**
       * Format: uuid
       * @description Identifier of the payment that last extended the membership.
       */
      last_payment_id: string;
      /** @description True for real money, false for the sandbox. */
      livemode: boolean;
      /**
       * Format: date-time
       * @description Time at which the object was created.
       */
      created_at: string;
      /**
       * Format: date-time
       * @description Time of the last change to the object.
       */
      updated_at: string;
      /** @description Version of the object. Each change increases it. */
      version: number;
    };
    MembershipPage: {
      /** @description Entries of this page. */
      items: components['schemas']['Membership'][];
      /** @description Page number, from 1. */
      page: number;
      /** @description Maximum number of entries per page. */
      per_page: number;
      /** @description Number of entries on all pages. Exact up to 10,000, with some filters up to 2,000: the description of each list names them. */
      total: number;
      /** @description Number of pages. */
      total_pages: number;
      /** @description True if another page follows. */
      has_more: boolean;
      /**
       * @description False if the list has more entries than `total`.
       * @enum {boolean}
       */
      total_exact?: false;
    };
    ReceiptPage: {
      /** @description Entries of this page. */
      items: components['schemas']['Receipt'][];
      /** @description Page number, from 1. */
      page: number;
      /** @description Maximum number of entries per page. */
      per_page: number;
      /** @description Number of entries on all pages. Exact up to 10,000, with some filters up to 2,000: the description of each list names them. */
      total: number;
      /** @description Number of pages. */
      total_pages: number;
      /** @description True if another page follows. */
      has_more: boolean;
      /**
       * @description False if the list has more entries than `total`.
       * @enum {boolean}
       */
      total_exact?: false;
    };
    ReceiptVerification: {
      /** @description True if the receipt is authentic and its payment is still valid. */
      valid: boolean;
      /**
       * @description Reason the receipt is not valid.
       * @enum {string}
       */
      reason?: 'sha256_mismatch' | 'signature_invalid' | 'unknown_key' | 'record_mismatch' | 'transaction_orphaned';
      /** @description True if the document’s bytes have the hash of the receipt. */
      sha256_matches: boolean;
      /** @description True if the named key signed these bytes. */
      signature_valid: boolean;
      /** @description Identifier of the signing key. */
      key_id: string;
      /** @description SHA-256 of the document’s bytes, in hex. */
      sha256: string;
      /**
       * Format: date-time
       * @description Time of the check.
       */
      checked_at: string;
    };
    InvoiceMetadataPatch: {
      /** @description Your invoice number. */
      invoice_number?: string | null;
      /** @description Text of your own, such as an order number. */
      reference?: string | null;
      /** @description Date of the invoice, such as `2026-11-21`. */
      issued_on?: string | null;
      /** @description Due date of the invoice, such as `2026-12-21`. */
      due_on?: string | null;
      /** @description Further notes. */
      notes?: string | null;
      /** @description Lines of the invoice. */
      lines?: components['schemas']['InvoiceLine'][] | null;
      /** @description Seller, as the invoice names it. */
      seller?: {
        /** @description Name of the party. */
        name?: string | null;
        /** @description Postal address. */
        address?: string | null;
        /** @description Tax number. */
        tax_id?: string | null;
      } | null;
      /** @description Billed party. */
      bill_to?: {
        /** @description Name of the party. */
        name?: string | null;
        /** @description Postal address. */
        address?: string | null;
        /** @description Tax number. */
        tax_id?: string | null;
        /** @description Email address. */
        email?: string | null;
      } | null;
      /** @description Included tax. */
      tax?: {
        /** @description Name of the tax. */
        label?: string | null;
        /** @description Rate in percent: a decimal as text. */
        rate_percent?: string | null;
        /** @description Decimal amount of the tax as text. */
        amount?: string | null;
      } | null;
    };
    SendProofRequest: {
      /**
       * Format: email
       * @description Email address.
       */
      email: string;
      /** @description Name of the recipient. */
      name?: string;
      /** @description Message to the recipient. */
      message?: string;
      /**
       * @description Language of emails, such as `en`.
       * @enum {string}
       */
      locale?: 'en' | 'es' | 'de' | 'fr' | 'pt-BR' | 'ja';
    };
    SendProofResponse: {
      /** @description Human-readable message. Do not branch on it. */
      detail: string;
      /**
       * Format: uuid
       * @description Identifier of the message.
       */
      message_id: string;
    };
    WebhookEndpointPage: {
      /** @description Entries of this page. */
      items: components['schemas']['WebhookEndpoint'][];
      /** @description Page number, from 1. */
      page: number;
      /** @description Maximum number of entries per page. */
      per_page: number;
      /** @description Number of entries on all pages. Exact up to 10,000, with some filters up to 2,000: the description of each list names them. */
      total: number;
      /** @description Number of pages. */
      total_pages: number;
      /** @description True if another page follows. */
      has_more: boolean;
      /**
       * @description False if the list has more entries than `total`.
       * @enum {boolean}
       */
      total_exact?: false;
    };
    CreateWebhookEndpointRequest: {
      /**
       * Format: uri
       * @description https URL that receives the events.
       */
      url: string;
      /** @description Your own description of the endpoint. */
      description?: string;
      /** @description Event types to send: `payment.confirmed`, a group such as `payment.*`, or `*`. GET /v1/webhooks/event-types lists them. */
      event_types?: string[];
      /** @description Products to send events of; empty: all products. */
      product_ids?: string[];
      /**
       * @description Bytes that `X-Svc-Signature` covers: `timestamp.body`, or the raw `body` alone.
       * @enum {string}
       */
      signed_payload?: 'timestamp.body' | 'body';
    };
    WebhookEndpointWithSecret: components['schemas']['WebhookEndpoint'] & {
      /** @description Signing secret. Shown only in this response. */
      secret: string;
    };
    UpdateWebhookEndpointRequest: {
      /**
       * Format: uri
       * @description https URL that receives the events.
       */
      url?: string;
      /** @description Your own description of the endpoint. */
      description?: string | null;
      /** @description Event types to send: `payment.confirmed`, a group such as `payment.*`, or `*`. GET /v1/webhooks/event-types lists them. */
      event_types?: string[];
      /** @description Products to send events of; empty: all products. */
      product_ids?: string[];
      /**
       * @description Bytes that `X-Svc-Signature` covers: `timestamp.body`, or the raw `body` alone.
       * @enum {string}
       */
      signed_payload?: 'timestamp.body' | 'body';
      /**
       * @description Status of the object.
       * @enum {string}
       */
      status?: 'enabled' | 'disabled';
    };
    RotateSecretRequest: {
      /**
       * @description Hours for which the old secret also signs; 24 by default.
       * @default 24
       */
      overlap_hours?: number;
    };
    RecoverWebhookRequest: {
      /**
       * Format: date-time
       * @description Start of the time range.
       */
      since: string;
      /**
       * Format: date-time
       * @description End of the time range; the current time by default.
       */
      until?: string;
    };
    WebhookRecovery: {
      /** @description Number of deliveries scheduled. */
      scheduled: number;
    };
    WebhookDelivery: {
      /** @description Identifier of the delivery. */
      delivery_id: number;
      /**
       * Format: uuid
       * @description Identifier of the endpoint.
       */
      endpoint_id: string;
      /** @description Identifier of the event. Use it to process each event once. */
      event_id: string;
      /** @description Type of the event, such as `payment.confirmed`. */
      event_type: string;
      /**
       * @description Status of the object.
       * @enum {string}
       */
      status: 'pending' | 'retrying' | 'succeeded' | 'failed' | 'cancelled';
      /** @description Number of the attempt, from 1. */
      attempt: number;
      /** @description Maximum number of attempts. */
      max_attempts: number;
      /** @description HTTP status that your server returned. */
      response_status?: number;
      /** @description Response time of your server in milliseconds. */
      response_ms?: number;
      /** @description Beginning of the response body of your server. */
      response_excerpt?: string;
      /** @description Reason the attempt failed without a response. */
      error?: string;
      /**
       * @description True for a delivery from a test of the endpoint.
       * @enum {boolean}
       */
      test?: true;
      /** @description Time of the next attempt. */
      next_attempt_at?: string | null;
      /** @description Identifier of the delivery that this one repeats. */
      replay_of?: number;
      /**
       * Format: date-time
       * @description Time at which the object was created.
       */
      created_at: string;
      /**
       * Format: date-time
       * @description Time of completion.
       */
      completed_at?: string;
    };
    WebhookDeliveryPage: {
      /** @description Entries of this page. */
      items: components['schemas']['WebhookDelivery'][];
      /** @description Page number, from 1. */
      page: number;
      /** @description Maximum number of entries per page. */
      per_page: number;
      /** @description Number of entries on all pages. Exact up to 10,000, with some filters up to 2,000: the description of each list names them. */
      total: number;
      /** @description Number of pages. */
      total_pages: number;
      /** @description True if another page follows. */
      has_more: boolean;
      /**
       * @description False if the list has more entries than `total`.
       * @enum {boolean}
       */
      total_exact?: false;
    };
    WebhookTimeline: {
      /** @description Entries of this page. */
      items: {
        /**
         * Format: date-time
         * @description Time of the event or delivery.
         */
        at: string;
        /**
         * @description Kind of the object.
         * @enum {string}
         */
        kind: 'event' | 'delivery';
        /** @description Type of the object. */
        type: string;
        /** @description Identifier of the event. Use it to process each event once. */
        event_id?: string;
        /** @description Identifier of the delivery. */
        delivery_id?: number;
        /** @description Status of the object. */
        status?: string;
      }[];
      /** @description Cursor of the next page; null on the last page. */
      next: string | null;
    };
    Event: {
      /** @description Unique identifier of the event. */
      id: string;
      /**
       * @description Type of the event.
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
       * @description True for a test event: an example without a real object. Event lists do not contain it.
       * @enum {boolean}
       */
      test?: true;
      /**
       * Format: date-time
       * @description Time at which the object was created.
       */
      created_at: string;
      /** @description True for real money, false for the sandbox. */
      livemode: boolean;
      /** @description API version of the event’s schema. */
      api_version: string;
      /**
       * Format: uuid
       * @description Identifier of the account.
       */
      account_id: string;
      /** @description Object of the event, and the version of the object. */
      subject: {
        /** @description Type of the object. */
        type: string;
        /** @description Identifier of the object. */
        id: string;
        /** @description Version of the object. Each change increases it. */
        version: number;
      };
      /** @description Data of the event. */
      data: {
        /** @description Object as its GET operation returns it. */
        object: {
          [key: string]: unknown;
        };
        /** @description Previous values of the changed fields, if known. */
        previous?: {
          [key: string]: unknown;
        };
        /** @description Refund of a `payment.refunded` event. */
        refund?: {
          [key: string]: unknown;
        };
        /** @description Recipient and identifier of a `receipt.proof_sent` event. */
        proof?: {
          [key: string]: unknown;
        };
        /** @description Message of a ticket event. */
        message?: {
          [key: string]: unknown;
        };
      };
    };
    EventPage: {
      /** @description Entries of this page. */
      items: components['schemas']['Event'][];
      /** @description Page number, from 1. */
      page: number;
      /** @description Maximum number of entries per page. */
      per_page: number;
      /** @description Number of entries on all pages. Exact up to 10,000, with some filters up to 2,000: the description of each list names them. */
      total: number;
      /** @description Number of pages. */
      total_pages: number;
      /** @description True if another page follows. */
      has_more: boolean;
      /**
       * @description False if the list has more entries than `total`.
       * @enum {boolean}
       */
      total_exact?: false;
    };
    IntegrationHealth: {
      /**
       * @description Status of the object.
       * @enum {string}
       */
      status: 'ok' | 'degraded';
      /** @description Webhook endpoints. */
      endpoints: {
        /** @description Number of enabled endpoints. */
        enabled: number;
        /** @description Number of disabled endpoints. */
        disabled: number;
        /** @description Number of endpoints that currently fail. */
        failing: number;
      };
      /**
       * Format: date-time
       * @description Time of the last delivery.
       */
      last_delivery_at?: string;
      /** @description Share of deliveries that succeeded within 24 hours. Absent if none ended. */
      success_rate_24h?: number;
      /** @description Age of the oldest pending delivery in seconds. Absent if none is pending. */
      oldest_pending_seconds?: number;
      /** @description Number of automation hooks. */
      hooks: number;
    };
    SubscribeHookRequest: {
      /** @description URL that receives the events. */
      target_url?: string;
      /** @description Alias of `target_url`, as some automation platforms send it. */
      hookUrl?: string;
      /** @description Type of the event, such as `payment.confirmed`. */
      event_type?: string;
      /** @description Alias of `event_type`, as some automation platforms send it. */
      event?: string;
      /** @description Products to send events of; empty: all products. */
      product_ids?: string[];
    };
    AutomationHookWithSecret: components['schemas']['AutomationHook'] & {
      /** @description Signing secret. Shown only in this response. */
      secret: string;
    };
    CreateTicketRequest: {
      /** @description Subject of the ticket. */
      subject: string;
      /** @description Text of the message, 1 to 10,000 characters. */
      body: string;
      /**
       * @description Category of the ticket.
       * @default other
       * @enum {string}
       */
      category?: 'payment' | 'delivery' | 'webhook' | 'billing' | 'other';
      /**
       * Format: uuid
       * @description Identifier of the payment. It grants access to the payment’s status.
       */
      payment_id?: string;
      /**
       * Format: uuid
       * @description Identifier of the membership.
       */
      membership_id?: string;
    };
    SupportMessage: {
      /**
       * Format: uuid
       * @description Identifier of the message.
       */
      message_id: string;
      /**
       * @description Author of the message.
       * @enum {string}
       */
      author: 'merchant' | 'staff' | 'system';
      /** @description Text of the message. */
      body: string;
      /**
       * Format: date-time
       * @description Time at which the object was created.
       */
      created_at: string;
    };
    CreatedSupportTicket: components['schemas']['SupportTicket'] & {
      /** @description Messages, oldest first. */
      messages: components['schemas']['SupportMessage'][];
    };
    SupportTicket: {
      /**
       * Format: uuid
       * @description Identifier of the ticket.
       */
      ticket_id: string;
      /** @description Subject of the ticket. */
      subject: string;
      /**
       * @description Category of the ticket.
       * @enum {string}
       */
      category: 'payment' | 'delivery' | 'webhook' | 'billing' | 'other';
      /**
       * @description Status of the object.
       * @enum {string}
       */
      status: 'open' | 'pending' | 'resolved' | 'closed';
      /**
       * Format: uuid
       * @description Identifier of the payment. It grants access to the payment’s status.
       */
      payment_id?: string;
      /**
       * Format: uuid
       * @description Identifier of the membership.
       */
      membership_id?: string;
      /**
       * Format: date-time
       * @description Time at which the object was created.
       */
      created_at: string;
      /**
       * Format: date-time
       * @description Time of the last change to the object.
       */
      updated_at: string;
      /**
       * Format: date-time
       * @description Time of the last message.
       */
      last_message_at: string;
      /** @description True for real money, false for the sandbox. */
      livemode: boolean;
    };
    SupportTicketPage: {
      /** @description Entries of this page. */
      items: components['schemas']['SupportTicket'][];
      /** @description Page number, from 1. */
      page: number;
      /** @description Maximum number of entries per page. */
      per_page: number;
      /** @description Number of entries on all pages. Exact up to 10,000, with some filters up to 2,000: the description of each list names them. */
      total: number;
      /** @description Number of pages. */
      total_pages: number;
      /** @description True if another page follows. */
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
       * @description Value of `before` that returns older messages. Absent if none exist.
       */
      messages_before?: string;
      /** @description Events of the linked payment or membership, oldest first; empty without one. */
      timeline: {
        /**
         * Format: date-time
         * @description Time of the event or delivery.
         */
        at: string;
        /**
         * @description Kind of the object.
         * @enum {string}
         */
        kind: 'event' | 'delivery';
        /** @description Type of the object. */
        type: string;
        /** @description Identifier of the event. Use it to process each event once. */
        event_id?: string;
        /** @description Identifier of the delivery. */
        delivery_id?: number;
        /** @description Status of the object. */
        status?: string;
      }[];
    };
    AddMessageRequest: {
      /** @description Text of the message, 1 to 10,000 characters. */
      body: string;
    };
    Customer: {
      /** @description Address of a Solana wallet. */
      wallet_address?: string;
      /** @description Your own name for the customer: 1 to 180 characters, no control characters, no leading or trailing space. Compared after Unicode NFC. */
      customer_ref?: string;
    };
    ConsumeRequest: {
      /**
       * Format: uuid
       * @description Identifier of the product.
       */
      product_id?: string;
      /** @description Your own name for the product: up to 180 characters, unique within its mode. Send either this or `product_id`. */
      external_product_id?: string;
      /** @description Customer: a wallet, or your own name for the customer. Requests name exactly one. */
      customer: components['schemas']['Customer'];
      /**
       * @description Number of units; 1 by default.
       * @default 1
       */
      units?: number;
      /** @description Resource that the customer requested. Part of the challenge. */
      resource?: {
        /**
         * Format: uri
         * @description URL of the resource.
         */
        url: string;
        /** @description Description of the resource. */
        description?: string;
        /** @description Media type of the resource. */
        mime_type?: string;
      };
    };
    ConsumeResponse: {
      /**
       * @description True if the units were consumed: serve the request.
       * @enum {boolean}
       */
      consumed: true;
      /** @description Identifier of the consumption. Refund it by this identifier if the work fails. */
      consumption_id: string;
      /**
       * Format: uuid
       * @description Identifier of the entitlement. A customer and a product always have the same one.
       */
      entitlement_id: string;
      /** @description Number of units consumed. */
      units: number;
      /** @description Number of units left; null: no limit. */
      remaining: number | null;
      /** @description End of the paid time; null: no end. */
      paid_through: string | null;
    };
    GrantRequest: {
      /**
       * Format: uuid
       * @description Identifier of the product.
       */
      product_id?: string;
      /** @description Your own name for the product: up to 180 characters, unique within its mode. Send either this or `product_id`. */
      external_product_id?: string;
      /** @description Customer: a wallet, or your own name for the customer. Requests name exactly one. */
      customer: components['schemas']['Customer'];
      /** @description Number of units to grant. */
      units?: number;
      /** @description Number of days. */
      days?: number;
      /** @description Reason, for your records. */
      reason: string;
    };
    Entitlement: {
      /**
       * Format: uuid
       * @description Identifier of the entitlement. A customer and a product always have the same one.
       */
      entitlement_id: string;
      /**
       * Format: uuid
       * @description Identifier of the product.
       */
      product_id: string;
      /** @description Customer: a wallet, or your own name for the customer. Requests name exactly one. */
      customer: components['schemas']['Customer'];
      /**
       * @description Status of the object.
       * @enum {string}
       */
      status: 'active' | 'exhausted' | 'expired' | 'revoked';
      /** @description Number of units granted; null: units are not counted. */
      granted_units: number | null;
      /** @description Number of units consumed. */
      used_units: number;
      /** @description Number of units left; null: no limit. */
      remaining: number | null;
      /** @description End of the paid time; null: no end. */
      paid_through: string | null;
      /** @description True if access has neither a limit of units nor an end. */
      unlimited: boolean;
      /** @description True for real money, false for the sandbox. */
      livemode: boolean;
      /** @description Version of the object. Each change increases it. */
      version: number;
      /**
       * Format: date-time
       * @description Time of the last change to the object.
       */
      updated_at: string;
    };
    RefundRequest: {
      /** @description Identifier of the consumption. Refund it by this identifier if the work fails. */
      consumption_id: string;
      /** @description Reason, for your records. */
      reason: string;
    };
    RefundResponse: {
      /**
       * @description True if the units are available again.
       * @enum {boolean}
       */
      refunded: true;
      /** @description Identifier of the consumption. Refund it by this identifier if the work fails. */
      consumption_id: string;
      /**
       * Format: uuid
       * @description Identifier of the entitlement. A customer and a product always have the same one.
       */
      entitlement_id: string;
      /** @description Number of units returned. */
      units: number;
      /** @description Number of units left; null: no limit. */
      remaining: number | null;
      /** @description End of the paid time; null: no end. */
      paid_through: string | null;
    };
    EntitlementPage: {
      /** @description Entries of this page. */
      items: components['schemas']['Entitlement'][];
      /** @description Page number, from 1. */
      page: number;
      /** @description Maximum number of entries per page. */
      per_page: number;
      /** @description Number of entries on all pages. Exact up to 10,000, with some filters up to 2,000: the description of each list names them. */
      total: number;
      /** @description Number of pages. */
      total_pages: number;
      /** @description True if another page follows. */
      has_more: boolean;
      /**
       * @description False if the list has more entries than `total`.
       * @enum {boolean}
       */
      total_exact?: false;
    };
    Rail: {
      /**
       * @description Payment rail. GET /v1/access/rails lists them.
       * @enum {string}
       */
      rail_id: 'solana_usdc' | 'solana_sol' | 'solana_usdc_subscription' | 'x402_solana_usdc' | 'mpp_solana_usdc';
      /** @description Name of the rail. */
      name: string;
      /**
       * @description Kind of the object.
       * @enum {string}
       */
      kind: 'checkout' | 'subscription' | 'x402' | 'mpp';
      /**
       * @description Asset: `USDC` or `SOL`.
       * @enum {string}
       */
      asset: 'USDC' | 'SOL';
      /** @description Network in CAIP-2. */
      network: string;
      /** @description Mint address of the token; absent for SOL. */
      mint?: string;
      /** @description Number of decimals of the asset. */
      decimals: number;
      /**
       * @description Status of the object.
       * @enum {string}
       */
      status: 'available' | 'degraded' | 'unavailable';
      /** @description Reason for the current status. */
      reason?: string;
      /** @description Sales that the rail supports. */
      supports: string[];
    };
    RailPage: {
      /** @description Entries of this page. */
      items: components['schemas']['Rail'][];
      /** @description Page number, from 1. */
      page: number;
      /** @description Maximum number of entries per page. */
      per_page: number;
      /** @description Number of entries on all pages. Exact up to 10,000, with some filters up to 2,000: the description of each list names them. */
      total: number;
      /** @description Number of pages. */
      total_pages: number;
      /** @description True if another page follows. */
      has_more: boolean;
      /**
       * @description False if the list has more entries than `total`.
       * @enum {boolean}
       */
      total_exact?: false;
    };
    RailSetting: {
      /**
       * @description Payment rail. GET /v1/access/rails lists them.
       * @enum {string}
       */
      rail_id: 'solana_usdc' | 'solana_sol' | 'solana_usdc_subscription' | 'x402_solana_usdc' | 'mpp_solana_usdc';
      /** @description True if the rail is enabled. */
      enabled: boolean;
      /** @description Wallet that the rail pays; null: the wallet of the account. */
      payout_wallet: string | null;
      /** @description USDC account of the wallet. SOL is paid to the wallet itself. */
      payout_ata: string | null;
      /** @description True if the USDC account exists. Null without a wallet, if none is required, if the node does not respond, and in the sandbox. */
      ata_exists: boolean | null;
      /** @description Unsigned transaction in base64 that creates the missing account. Open `/sign#<transaction>` of this service to sign and send it with the payout wallet. */
      create_ata_transaction: string | null;
      /** @description Time of the last change; null: never set. */
      updated_at: string | null;
    };
    RailSettingPage: {
      /** @description Entries of this page. */
      items: components['schemas']['RailSetting'][];
      /** @description Page number, from 1. */
      page: number;
      /** @description Maximum number of entries per page. */
      per_page: number;
      /** @description Number of entries on all pages. Exact up to 10,000, with some filters up to 2,000: the description of each list names them. */
      total: number;
      /** @description Number of pages. */
      total_pages: number;
      /** @description True if another page follows. */
      has_more: boolean;
      /**
       * @description False if the list has more entries than `total`.
       * @enum {boolean}
       */
      total_exact?: false;
    };
    RailSettingUpdate: {
      /** @description True if the rail is enabled. */
      enabled?: boolean;
      /** @description Solana wallet that receives the payments. Defaults to the wallet of the rail, then of the account. A product without any cannot be sold. Replace the one of an example with your own. */
      payout_wallet?: string | null;
    };
    CreateAppRequest: {
      /** @description Name of the application. */
      name: string;
      /**
       * Format: uri
       * @description https URL of the application’s home page.
       */
      homepage_url?: string;
    };
    AccessApp: {
      /**
       * Format: uuid
       * @description Identifier of the application that the product belongs to.
       */
      access_app_id: string;
      /** @description Name of the application. */
      name: string;
      /** @description https URL of the application’s home page. */
      homepage_url?: string;
      /**
       * Format: date-time
       * @description Time at which the object was created.
       */
      created_at: string;
    };
    ReadinessCheck: {
      /**
       * @description Code of the check.
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
       * @description Status of the object.
       * @enum {string}
       */
      status: 'pass' | 'fail' | 'warn' | 'skip';
      /** @description Result of the check. */
      message: string;
      /** @description Call that resolves the failure; null if none is needed. */
      fix: components['schemas']['Fix'] | null;
      /** @description URL of the page that explains the check. */
      docs_url: string;
    };
    /** @description Unconfigured parts of the deployment: `google`, `github`, `processor` and `mail`, each with the names of its missing variables and bindings; `keys`, with those that lack a key which open payments, channels or subscriptions name. Complete parts are absent. None of them blocks a sale. */
    Unconfigured: {
      [key: string]: string[];
    };
    Readiness: {
      /** @description True if a sale over the default rail would currently succeed. `rails` has the result of each other rail: x402 also requires `live_mode_confirmed`. */
      ready: boolean;
      /**
       * @description Mode: `live` or `sandbox`.
       * @enum {string}
       */
      mode: 'live' | 'sandbox';
      /**
       * Format: uuid
       * @description Identifier of the application that the product belongs to.
       */
      access_app_id?: string;
      /**
       * Format: uuid
       * @description Identifier of the product.
       */
      product_id?: string;
      /** @description Results of the checks. */
      checks: components['schemas']['ReadinessCheck'][];
      /** @description Rails of the product, and whether each one can currently sell. */
      rails: {
        /**
         * @description Payment rail. GET /v1/access/rails lists them.
         * @enum {string}
         */
        rail_id: 'solana_usdc' | 'solana_sol' | 'solana_usdc_subscription' | 'x402_solana_usdc' | 'mpp_solana_usdc';
        /** @description True if a sale over the rail would currently succeed. */
        ready: boolean;
      }[];
      /** @description Codes of the checks that block a sale over the default rail. A check may fail for another rail alone. */
      blocking: string[];
      /** @description Unconfigured parts of this deployment, each with the missing variables. */
      not_configured: components['schemas']['Unconfigured'];
      /**
       * Format: date-time
       * @description Time of the check.
       */
      checked_at: string;
    };
    ProductRail: components['schemas']['Rail'] & {
      /** @description Reason the rail is not ready: a service status (GET /v1/access/rails), or a `setup_not_ready` reason. Readiness has a check for each. */
      reason?: string;
      /** @description Call that resolves the problem. */
      fix?: components['schemas']['Fix'];
    };
    ProductRailPage: {
      /** @description Entries of this page. */
      items: components['schemas']['ProductRail'][];
      /** @description Page number, from 1. */
      page: number;
      /** @description Maximum number of entries per page. */
      per_page: number;
      /** @description Number of entries on all pages. Exact up to 10,000, with some filters up to 2,000: the description of each list names them. */
      total: number;
      /** @description Number of pages. */
      total_pages: number;
      /** @description True if another page follows. */
      has_more: boolean;
      /**
       * @description False if the list has more entries than `total`.
       * @enum {boolean}
       */
      total_exact?: false;
    };
    SubscriptionPlan: {
      /**
       * @description Status of the plan. `outdated`: the product has a new price, period or payout wallet since the plan was published. Nothing is sold until the new plan is published; existing subscribers stay on their plan. `sunset`: the owner has closed the plan to new subscribers.
       * @enum {string}
       */
      status: 'unpublished' | 'published' | 'outdated' | 'sunset';
      /** @description Address of the plan of the current terms, published or not. */
      plan_address: string;
      /** @description Number of the plan in the program, derived from its terms. */
      plan_id: string;
      /** @description Terms of the plan, from the current product. */
      terms: {
        /** @description Price of a period. */
        amount: components['schemas']['Money'];
        /** @description Length of a period in hours. */
        period_hours: number;
        /** @description Payout wallet. The plan can pay no other wallet. */
        destination: string;
        /** @description Key of this service that collects. It holds no money of yours or of buyers. */
        puller: string;
      };
      /** @description Unsigned transaction in base64 that publishes the plan. Sign it with the payout wallet and send it. Absent if nothing is left to sign. */
      transaction?: string;
      /**
       * Format: date-time
       * @description Time after which the transaction cannot land.
       */
      expires_at?: string;
    };
    ConfirmSubscriptionPlanRequest: {
      /** @description Signature of the transaction. */
      tx_signature: string;
    };
    PaymentSessionRequest: {
      /**
       * Format: uuid
       * @description Identifier of the product.
       */
      product_id?: string;
      /** @description Your own name for the product: up to 180 characters, unique within its mode. Send either this or `product_id`. */
      external_product_id?: string;
      /** @description Your own name for the buyer; identifies membership and entitlement. */
      customer_ref?: string;
      /**
       * @description Rail of the hosted checkout. It must be ready for this product. Connect uses it unless it names another asset. Defaults to the product’s default_rail if that is ready, else to another ready rail.
       * @enum {string}
       */
      rail_id?: 'solana_usdc' | 'solana_sol' | 'solana_usdc_subscription' | 'x402_solana_usdc' | 'mpp_solana_usdc';
      /**
       * Format: uri
       * @description https URL for buyers after payment; `payment_id` and `status` are added. A hint only: verify the payment from your server.
       */
      success_url?: string;
      /**
       * @description Your own key-value pairs, never shown to buyers: up to 50 keys of 40 characters, values of 500. An update merges; null removes a key.
       * @default {}
       */
      metadata?: {
        [key: string]: string;
      };
    };
    PaymentSession: {
      /**
       * Format: uuid
       * @description Identifier of the payment session.
       */
      payment_session_id: string;
      /**
       * Format: uuid
       * @description Identifier of the payment. It grants access to the payment’s status.
       */
      payment_id?: string;
      /**
       * @description Status of the object.
       * @enum {string}
       */
      status: 'open' | 'pending_confirmation' | 'completed' | 'failed' | 'expired';
      /** @description URL of the checkout page for the buyer. */
      checkout_url: string;
      /**
       * Format: uuid
       * @description Identifier of the product.
       */
      product_id: string;
      /** @description Price. */
      price: components['schemas']['Money'];
      /**
       * Format: date-time
       * @description Time of expiry.
       */
      expires_at: string;
      /**
       * Format: date-time
       * @description Time at which the object was created.
       */
      created_at: string;
    };
    SettleRequest: {
      /**
       * Format: uuid
       * @description Identifier of the product.
       */
      product_id?: string;
      /** @description Your own name for the product: up to 180 characters, unique within its mode. Send either this or `product_id`. */
      external_product_id?: string;
      /** @description Value of the buyer’s PAYMENT-SIGNATURE header, unchanged. */
      payment_signature: string;
      /** @description Customer: a wallet, or your own name for the customer. Requests name exactly one. */
      customer?: components['schemas']['Customer'];
      /**
       * @description Units to consume in the same step; 422 with `meta.buys_units` above the amount that the payment buys.
       * @default 0
       */
      consume_units?: number;
    };
    SettleResponse: {
      /**
       * @description True if the payment was settled.
       * @enum {boolean}
       */
      success: true;
      /**
       * @description True if another request already received this success: do not serve this one.
       * @enum {boolean}
       */
      duplicate?: true;
      /**
       * Format: uuid
       * @description Identifier of the payment. It grants access to the payment’s status.
       */
      payment_id: string;
      /**
       * Format: uuid
       * @description Identifier of the receipt.
       */
      receipt_id: string;
      /** @description Signature of the transaction. */
      tx_signature: string;
      /** @description Network in CAIP-2. */
      network: string;
      /** @description Wallet that paid. */
      payer: string;
      /** @description Settled amount. */
      amount: components['schemas']['Money'];
      /**
       * Format: uuid
       * @description Identifier of the entitlement. A customer and a product always have the same one.
       */
      entitlement_id: string;
      /** @description Number of units granted; null: no limit. */
      granted_units: number | null;
      /** @description Number of units consumed in the same call. */
      consumed_units: number;
      /** @description Identifier of the consumption. Refund it if the request could not be served. */
      consumption_id?: string;
      /** @description Number of units left; null: no limit. */
      remaining: number | null;
      /** @description Value of the PAYMENT-RESPONSE header for the buyer. */
      payment_response: string;
    };
    SettlePending: {
      /**
       * @description True if the payment was settled.
       * @enum {boolean}
       */
      success: false;
      /**
       * @description Reason the payment is not settled yet.
       * @enum {string}
       */
      error_reason: 'settlement_pending';
      /** @description Signature of the transaction. */
      tx_signature: string;
      /** @description Seconds to wait before the same payment is sent again. */
      retry_after: number;
    };
    Activation: {
      /**
       * @description Plan in effect.
       * @enum {string}
       */
      plan: 'free' | 'starter' | 'growth' | 'scale';
      /** @description End of the paid plan; null: the plan has no end, and purchases do not change it. */
      paid_through: string | null;
      /**
       * Format: uuid
       * @description Identifier of the account.
       */
      account_id: string;
      /**
       * Format: uuid
       * @description Identifier of the receipt.
       */
      receipt_id: string;
    };
    BillingSummary: {
      /**
       * @description Higher of the plans bought by card and by x402.
       * @enum {string}
       */
      plan: 'free' | 'starter' | 'growth' | 'scale';
      /**
       * @description Status of the subscription at the payment processor.
       * @enum {string}
       */
      status: 'none' | 'active' | 'trialing' | 'past_due' | 'cancelled';
      /** @description End of the current card period, or of the time bought by x402. */
      current_period_end: string | null;
      /** @description True if the subscription ends with the paid period. */
      cancel_at_period_end: boolean;
      /**
       * @description Source of the plan: `free`, the card `processor`, or `x402`.
       * @enum {string}
       */
      source: 'free' | 'processor' | 'x402';
      /** @description Current usage in live mode. */
      usage: {
        /** @description Number of active keys. */
        keys: number;
        /** @description Webhook endpoints. */
        endpoints: number;
        /** @description Number of active products. */
        products: number;
      };
      /** @description Limits of the plan. */
      limits: {
        /** @description Number of active keys. */
        keys: number;
        /** @description Webhook endpoints. */
        endpoints: number;
        /** @description Maximum number of active products; null: no limit. */
        products: number | null;
      };
    };
    BillingCheckoutRequest: {
      /**
       * @description Plan: `free`, `starter`, `growth` or `scale`.
       * @enum {string}
       */
      plan: 'starter' | 'growth' | 'scale';
      /** @description https URL for buyers after payment; `payment_id` and `status` are added. A hint only: verify the payment from your server. */
      success_url?: string;
      /** @description https URL for buyers who leave without payment. */
      cancel_url?: string;
    };
    BillingCheckout: {
      /** @description URL of the checkout page. */
      checkout_url: string;
    };
    BillingPortalRequest: {
      /** @description URL to return to. */
      return_url?: string;
    };
    BillingPortal: {
      /** @description URL of the customer portal, for changes of card and subscription. */
      portal_url: string;
    };
    ProcessorWebhookResponse: {
      /**
       * @description True if the event was stored.
       * @enum {boolean}
       */
      received: true;
      /** @description True if the same event was received before. */
      duplicate: boolean;
    };
    FacilitatorSupported: {
      /** @description Combinations of scheme and network that can be verified and settled. */
      kinds: {
        /** @description Version of x402: 2. */
        x402Version: number;
        /** @description x402 scheme: `exact`. */
        scheme: string;
        /** @description Network in CAIP-2. */
        network: string;
        /** @description Further data that the scheme requires. */
        extra?: {
          [key: string]: unknown;
        };
      }[];
      /** @description Supported x402 extensions. */
      extensions: string[];
      /** @description Wallets that pay the network fee, by network. */
      signers: {
        [key: string]: string[];
      };
    };
    /** @description Request body of the x402 reference facilitator client. */
    FacilitatorRequest: {
      /** @description Version of x402: 2. */
      x402Version: number;
      /** @description Payload that the buyer signed, as x402 defines it. */
      paymentPayload: {
        [key: string]: unknown;
      };
      /** @description Requirements of the payment, as x402 defines them. */
      paymentRequirements: {
        [key: string]: unknown;
      };
    } & {
      [key: string]: unknown;
    };
    FacilitatorVerification: {
      /** @description True if the payment would be accepted. */
      isValid: boolean;
      /** @description Reason the payment would be refused: an x402 code. */
      invalidReason?: string;
      /** @description Human-readable form of `invalidReason`. */
      invalidMessage?: string;
      /** @description Wallet that paid. */
      payer?: string;
      /** @description Data of x402 extensions. */
      extensions?: {
        [key: string]: unknown;
      };
      /** @description Further data of the scheme. */
      extra?: {
        [key: string]: unknown;
      };
    };
    FacilitatorSettlement: {
      /** @description True if the payment was settled. */
      success: boolean;
      /** @description Reason the settlement failed: an x402 code. */
      errorReason?: string;
      /** @description Human-readable form of `errorReason`. */
      errorMessage?: string;
      /** @description Wallet that paid. */
      payer?: string;
      /** @description Signature of the transaction; empty if no transaction exists. */
      transaction: string;
      /** @description Network in CAIP-2. */
      network: string;
      /** @description Settled amount in base units, as text. */
      amount?: string;
      /** @description Data of x402 extensions. */
      extensions?: {
        [key: string]: unknown;
      };
      /** @description Further data of the scheme. */
      extra?: {
        [key: string]: unknown;
      };
    };
    UsdcInput: {
      /**
       * @description Asset: `USDC` or `SOL`.
       * @enum {string}
       */
      asset: 'USDC' | 'SOL';
      /** @description Decimal amount as text, such as `12.5`. USDC has at most 6 decimals, SOL at most 9; more are refused. */
      amount: string;
    };
    MeteredSessionRequest: {
      /**
       * Format: uuid
       * @description Identifier of the product.
       */
      product_id?: string;
      /** @description Your own name for the product: up to 180 characters, unique within its mode. Send either this or `product_id`. */
      external_product_id?: string;
      /** @description Customer: a wallet, or your own name for the customer. Requests name exactly one. */
      customer?: components['schemas']['Customer'];
      /** @description Maximum deposit of the buyer. */
      cap: components['schemas']['UsdcInput'];
      /** @description Price of one unit. Allows deliveries to be counted in units. */
      unit_price?: components['schemas']['UsdcInput'];
      /** @description Minimum increase from one voucher to the next; one base unit by default. */
      min_voucher_delta?: components['schemas']['UsdcInput'];
      /** @description Seconds without use after which the session is closed, if nothing is reserved; 3600 by default. */
      idle_timeout_seconds?: number;
      /** @description Minimum time to settle after the payer asks to close the channel, in seconds; 900 by default. */
      grace_period_seconds?: number;
      /** @description Address of the payment-channels program, if this deployment opens channels of it. */
      channel_program?: string;
    };
    MeteredSession: {
      /** @description Identifier of the session. */
      session_id: string;
      /**
       * @description Status of the object.
       * @enum {string}
       */
      status: 'created' | 'open' | 'closing' | 'closed' | 'expired' | 'failed';
      /**
       * Format: uuid
       * @description Identifier of the product.
       */
      product_id: string;
      /** @description Customer: a wallet, or your own name for the customer. Requests name exactly one. */
      customer?: {
        /** @description Address of a Solana wallet. */
        wallet_address?: string;
        /** @description Your own name for the customer: 1 to 180 characters, no control characters, no leading or trailing space. Compared after Unicode NFC. */
        customer_ref?: string;
      };
      /** @description Address of the payment channel, once it exists. */
      channel_id?: string;
      /** @description Address of the payment-channels program that owns the channel. */
      channel_program: string;
      /** @description URL at which the buyer’s client opens, pays, tops up and closes the session. */
      authorize_url: string;
      /** @description URL at which your server reserves an amount before it delivers. */
      deliveries_url: string;
      /** @description URL at which the buyer’s client pays for a delivery with a voucher. */
      commits_url: string;
      /** @description Challenge of the session: the value of `WWW-Authenticate` and its decoded request. Only in the response that creates the session. */
      challenge?: {
        /** @description Value of `WWW-Authenticate` that asks the buyer to open the channel. */
        header: string;
        /** @description Decoded request of the header. */
        request: {
          [key: string]: unknown;
        };
      };
      /** @description Maximum deposit of the channel. */
      cap: components['schemas']['Money'];
      /** @description Deposit of the buyer, as recorded on the chain. */
      deposit: components['schemas']['Money'];
      /** @description Highest amount that vouchers promise. */
      cumulative: components['schemas']['Money'];
      /** @description Amount reserved by deliveries that are not paid yet. */
      reserved: components['schemas']['Money'];
      /** @description Part of the promised amount that is settled on the chain. */
      settled: components['schemas']['Money'];
      /** @description Price of one unit, for deliveries that are counted in units. */
      unit_price?: components['schemas']['Money'];
      /** @description Minimum increase from one voucher to the next. */
      min_voucher_delta: components['schemas']['Money'];
      /** @description Seconds without use after which the session is closed, unless an amount is reserved. */
      idle_timeout_seconds: number;
      /** @description Minimum time to settle after the payer asks to close the channel, in seconds. */
      grace_period_seconds: number;
      /** @description Wallet that paid. */
      payer?: string;
      /** @description Public key that signs the channel’s vouchers. */
      authorized_signer?: string;
      /**
       * Format: date-time
       * @description Time until which the session can be opened.
       */
      expires_at: string;
      /** @description True for real money, false for the sandbox. */
      livemode: boolean;
      /**
       * Format: date-time
       * @description Time at which the object was created.
       */
      created_at: string;
      /**
       * Format: date-time
       * @description Time of the last change to the object.
       */
      updated_at: string;
      /** @description Version of the object. Each change increases it. */
      version: number;
    };
    MeteredDeliveryRequest: {
      /** @description Identifier of the delivery. Generated by default. */
      delivery_id?: string;
      /** @description Amount to reserve. */
      amount?: components['schemas']['UsdcInput'];
      /** @description Number of units, at the session’s unit_price. */
      units?: number;
      /** @description Duration of the reservation in seconds; 600 by default. */
      expires_in?: number;
    };
    MeteringDirective: {
      /** @description Amount in base units. */
      amount: string;
      /** @description Mint address of the currency. */
      currency: string;
      /** @description Identifier of the delivery. */
      deliveryId: string;
      /** @description Time of expiry in Unix seconds. */
      expiresAt: number;
      /** @description Number of the delivery in the session. */
      sequence: number;
      /** @description Address of the channel. */
      sessionId: string;
      /** @description URL that accepts the voucher of this delivery. */
      commitUrl: string;
      /** @description Identifier of the session. */
      session_id: string;
    };
    CommitReceipt: {
      /** @description Amount of this delivery in base units. */
      amount: string;
      /** @description Cumulative amount of the voucher in base units. */
      cumulative: string;
      /** @description Identifier of the delivery. */
      deliveryId: string;
      /** @description Identifier of the session in the protocol: the address of the channel. */
      sessionId: string;
      /**
       * @description Status of the object.
       * @enum {string}
       */
      status: 'committed' | 'replayed';
      /** @description Identifier of the session. */
      session_id: string;
    };
    MeteredCommitRequest: {
      /** @description Identifier of the delivery. */
      deliveryId: string;
      /** @description Signed promise of a cumulative amount. */
      voucher?: {
        /** @description Signed data of the voucher. */
        data: {
          /** @description Address of the channel. */
          channelId: string;
          /** @description Cumulative amount in base units. */
          cumulativeAmount: string;
          /** @description Time of expiry of the voucher in Unix seconds; 0: no expiry. */
          expiresAt: number;
          /** @description Nonce of the voucher. */
          nonce?: number;
        } & {
          [key: string]: unknown;
        };
        /** @description Ed25519 signature over the bytes of the voucher, in base58. */
        signature: string;
      } & {
        [key: string]: unknown;
      };
    } & {
      [key: string]: unknown;
    };
    /** @description On-chain consent of a buyer to one collection per period. */
    NativeSubscription: {
      /** @description Identifier of the native subscription: the buyer’s consent to one collection per period. */
      authorization_id: string;
      /**
       * Format: uuid
       * @description Identifier of the product.
       */
      product_id: string;
      /** @description Wallet that subscribed and that payments are collected from. */
      subscriber_wallet: string;
      /** @description Address of the on-chain plan: price, period and destination. No party can change it. */
      plan_address: string;
      /** @description Address of the subscription account, derived from the plan and the wallet. */
      subscription_address: string;
      /**
       * @description Status of the object.
       * @enum {string}
       */
      status: 'pending' | 'active' | 'past_due' | 'requires_reapproval' | 'cancel_requested' | 'cancelled' | 'expired';
      /** @description Price of each period, as the buyer agreed to it. */
      amount: components['schemas']['Money'];
      /** @description Length of a period in hours. */
      period_hours: number;
      /**
       * Format: date-time
       * @description Start of the last collected period on the chain.
       */
      current_period_start?: string;
      /**
       * Format: date-time
       * @description End of the current period on the chain.
       */
      current_period_end?: string;
      /** @description End of the paid time; null: no end. */
      paid_through: string | null;
      /** @description Last attempt to collect a period. */
      last_collection?: {
        /**
         * Format: date-time
         * @description Time of the attempt.
         */
        at: string;
        /**
         * @description Status of the object.
         * @enum {string}
         */
        status: 'collected' | 'failed';
        /**
         * @description Reason of the failure, as a code.
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
        /** @description Signature of the transaction. */
        tx_signature?: string;
      };
      /** @description Cancellation by the buyer: the time it was found on the chain, and the time from which nothing can be collected. */
      cancel?: {
        /**
         * Format: date-time
         * @description Time at which the cancellation was found on the chain.
         */
        requested_at: string;
        /**
         * Format: date-time
         * @description Time from which nothing can be collected.
         */
        effective_at: string;
      };
      /**
       * Format: date-time
       * @description Time at which the merchant ended collecting.
       */
      stopped_at?: string;
      /** @description True for real money, false for the sandbox. */
      livemode: boolean;
      /** @description Version of the object. Each change increases it. */
      version: number;
    };
    NativeSubscriptionPage: {
      /** @description Entries of this page. */
      items: components['schemas']['NativeSubscription'][];
      /** @description Page number, from 1. */
      page: number;
      /** @description Maximum number of entries per page. */
      per_page: number;
      /** @description Number of entries on all pages. Exact up to 10,000, with some filters up to 2,000: the description of each list names them. */
      total: number;
      /** @description Number of pages. */
      total_pages: number;
      /** @description True if another page follows. */
      has_more: boolean;
      /**
       * @description False if the list has more entries than `total`.
       * @enum {boolean}
       */
      total_exact?: false;
    };
    CancelIntentRequest: {
      /** @description Wallet that subscribed. */
      wallet_address: string;
    };
    CancelIntent: {
      /** @description Unsigned transaction in base64. Sign it with the wallet, then send it yourself or through this service. */
      transaction: string;
      /**
       * Format: date-time
       * @description Time after which the transaction cannot land.
       */
      expires_at: string;
      /**
       * Format: date-time
       * @description Time from which nothing can be collected.
       */
      effective_at: string;
    };
    CancelProof: {
      /** @description Signature of the cancelling transaction, landed or in flight. */
      tx_signature?: string;
      /** @description Signed transaction. The service sends it. */
      transaction?: string;
    };
    CreateSetupIntentRequest: {
      /** @description Name of the agent. */
      agent_name: string;
      /** @description Contact of the agent’s operator. */
      operator_contact?: string;
      /** @description Purpose of the agent. */
      intended_use?: string;
      /**
       * @description Plan that you intend to buy.
       * @enum {string}
       */
      plan?: 'free' | 'starter' | 'growth' | 'scale';
    };
    SetupManifest: {
      /**
       * @description Version of the manifest format: `1`.
       * @enum {string}
       */
      manifest_version: '1';
      /** @description Name of the seller. */
      name: string;
      /** @description Description of the seller and its offer. */
      description?: string;
      /** @description https URL of the agent’s home page. Never fetched. */
      homepage_url?: string;
      /** @description Contact email of the agent’s operator. */
      contact_email?: string;
      /**
       * @description Resources for sale, by URL. The service never fetches them.
       * @default []
       */
      resources?: {
        /** @description HTTP method. */
        method: string;
        /** @description URL of the resource. */
        url: string;
        /** @description `external_product_id` or name of one of `products`. */
        product_ref: string;
        /**
         * @description Units that one call consumes.
         * @default 1
         */
        units?: number;
      }[];
      /**
       * @description Products to sell.
       * @default []
       */
      products?: {
        /** @description Your own name for the product: up to 180 characters, unique within its mode. Send either this or `product_id`. */
        external_product_id?: string;
        /** @description Name of the product, as buyers see it. */
        name: string;
        /** @description Description of the product, as buyers see it. */
        description?: string;
        /** @description Price. */
        price: {
          /** @description Asset: `USDC` or `SOL`. */
          asset: string;
          /** @description Decimal amount as text, such as `12.5`. USDC has at most 6 decimals, SOL at most 9; more are refused. */
          amount: string;
        };
        /** @description Units per purchase; null: no limit. Defaults to 1 for `api` products and null for all others. Send null to sell an API by time. */
        usage_units?: number;
        /** @description Days of access per purchase; null: no time limit. Defaults to 30, or to null for `api` products without automatic renewal. */
        access_period_days?: number;
      }[];
      /** @description Destination of the money. */
      payout?: {
        /** @description Payment rail. GET /v1/access/rails lists them. */
        rail_id: string;
        /** @description Address of a Solana wallet. */
        wallet_address: string;
      };
      /**
       * @description Webhook endpoints.
       * @default []
       */
      webhooks?: {
        /** @description URL that receives the events. */
        url: string;
        /** @description Event types to send: `payment.confirmed`, a group such as `payment.*`, or `*`. GET /v1/webhooks/event-types lists them. */
        event_types: string[];
      }[];
      /**
       * @description Requested permissions of the live key: `read`, `execute`.
       * @default [
       *       "read",
       *       "execute"
       *     ]
       */
      requested_permissions?: string[];
      /**
       * @description Spending limits in USDC for payments with the setup secret. Days are UTC.
       * @default {}
       */
      spend_limits?: {
        /** @description Maximum of one payment. */
        per_payment?: {
          /** @description Asset: `USDC` or `SOL`. */
          asset: string;
          /** @description Decimal amount as text, such as `12.5`. USDC has at most 6 decimals, SOL at most 9; more are refused. */
          amount: string;
        };
        /** @description Maximum per day (UTC). */
        per_day?: {
          /** @description Asset: `USDC` or `SOL`. */
          asset: string;
          /** @description Decimal amount as text, such as `12.5`. USDC has at most 6 decimals, SOL at most 9; more are refused. */
          amount: string;
        };
      };
      /**
       * @description True if a live key is requested.
       * @default false
       */
      live_requested?: boolean;
    };
    SetupEvaluation: {
      /** @description Score from 0 to 100. */
      score: number;
      /** @description Findings. Correct those of severity `error`. */
      findings: {
        /**
         * @description Severity of the finding. A manifest with an error is returned for changes.
         * @enum {string}
         */
        severity: 'error' | 'warning' | 'info';
        /** @description Code of the finding. */
        code: string;
        /** @description Location in the manifest. */
        path: string;
        /** @description Description of the finding. */
        message: string;
        /** @description Suggested correction. */
        suggestion: string;
      }[];
    };
    NextAction: {
      /** @description Next action. */
      action: string;
      /**
       * @description HTTP method.
       * @enum {string}
       */
      method: 'GET' | 'POST' | 'PUT';
      /** @description Path of the request. */
      path: string;
      /** @description Description of the action. */
      description: string;
      /** @description Request headers to send. */
      headers?: {
        [key: string]: string;
      };
      /** @description Request body to send. */
      body?: {
        [key: string]: unknown;
      };
    };
    CreatedSetupIntent: components['schemas']['SetupIntent'] & {
      /** @description Secret of the setup. Authenticates the setup and pays for its plan. Shown only in this response. */
      setup_secret: string;
      /** @description Sandbox API key. Shown only in this response. */
      sandbox_api_key: string;
    };
    SetupIntent: {
      /**
       * Format: uuid
       * @description Identifier of the setup.
       */
      setup_intent_id: string;
      /**
       * @description Status of the object.
       * @enum {string}
       */
      status: 'created' | 'changes_required' | 'ready' | 'approved' | 'expired';
      /** @description Name of the agent. */
      agent_name: string;
      /** @description Contact of the agent’s operator. */
      operator_contact?: string;
      /** @description Purpose of the agent. */
      intended_use?: string;
      /**
       * Format: uuid
       * @description Identifier of the account.
       */
      account_id: string;
      /**
       * @description Requested plan.
       * @enum {string}
       */
      plan?: 'free' | 'starter' | 'growth' | 'scale';
      /**
       * @description Plan in effect.
       * @enum {string}
       */
      active_plan: 'free' | 'starter' | 'growth' | 'scale';
      /**
       * Format: date-time
       * @description End of the paid plan.
       */
      plan_paid_through?: string;
      /**
       * Format: uuid
       * @description Identifier of the sandbox key.
       */
      sandbox_key_id: string;
      /**
       * Format: uuid
       * @description Identifier of the live key that this setup issued last.
       */
      live_key_id?: string;
      /** @description True if a live key was issued and is active. */
      live_key_active: boolean;
      /** @description Spending limits of payments with the setup secret. */
      spend_limits: {
        /** @description Maximum of one payment. */
        per_payment?: components['schemas']['Money'];
        /** @description Maximum per day (UTC). */
        per_day?: components['schemas']['Money'];
      };
      /** @description Manifest of the setup. */
      manifest?: components['schemas']['SetupManifest'];
      /** @description Evaluation of the manifest. */
      evaluation?: components['schemas']['SetupEvaluation'];
      /**
       * Format: date-time
       * @description Time of the approval.
       */
      approved_at?: string;
      /**
       * Format: date-time
       * @description Time of expiry. Absent once a plan is active: the setup then does not expire.
       */
      expires_at?: string;
      /** @description Payments in flight. The setup stays open until the chain has decided: do not pay again. */
      pending_payments?: {
        /**
         * @description Plan: `free`, `starter`, `growth` or `scale`.
         * @enum {string}
         */
        plan?: 'free' | 'starter' | 'growth' | 'scale';
        /** @description Amount of the payment. */
        amount: components['schemas']['Money'];
        /** @description Signature of the transaction. */
        tx_signature: string;
        /**
         * Format: date-time
         * @description Time at which the object was created.
         */
        created_at: string;
      }[];
      /** @description Next actions, in order. */
      next_actions: components['schemas']['NextAction'][];
      /**
       * Format: date-time
       * @description Time at which the object was created.
       */
      created_at: string;
      /**
       * Format: date-time
       * @description Time of the last change to the object.
       */
      updated_at: string;
    };
    SetupIntentStatusRequest: {
      /** @description Secret of the setup, as shown when the setup was created. */
      setup_secret: string;
    };
    SetupManifestRequest: {
      /** @description Secret of the setup, as shown when the setup was created. */
      setup_secret: string;
      /**
       * @description Version of the manifest format: `1`.
       * @enum {string}
       */
      manifest_version: '1';
      /** @description Name of the seller. */
      name: string;
      /** @description Description of the seller and its offer. */
      description?: string;
      /** @description https URL of the agent’s home page. Never fetched. */
      homepage_url?: string;
      /** @description Contact email of the agent’s operator. */
      contact_email?: string;
      /**
       * @description Resources for sale, by URL. The service never fetches them.
       * @default []
       */
      resources?: {
        /** @description HTTP method. */
        method: string;
        /** @description URL of the resource. */
        url: string;
        /** @description `external_product_id` or name of one of `products`. */
        product_ref: string;
        /**
         * @description Units that one call consumes.
         * @default 1
         */
        units?: number;
      }[];
      /**
       * @description Products to sell.
       * @default []
       */
      products?: {
        /** @description Your own name for the product: up to 180 characters, unique within its mode. Send either this or `product_id`. */
        external_product_id?: string;
        /** @description Name of the product, as buyers see it. */
        name: string;
        /** @description Description of the product, as buyers see it. */
        description?: string;
        /** @description Price. */
        price: {
          /** @description Asset: `USDC` or `SOL`. */
          asset: string;
          /** @description Decimal amount as text, such as `12.5`. USDC has at most 6 decimals, SOL at most 9; more are refused. */
          amount: string;
        };
        /** @description Units per purchase; null: no limit. Defaults to 1 for `api` products and null for all others. Send null to sell an API by time. */
        usage_units?: number;
        /** @description Days of access per purchase; null: no time limit. Defaults to 30, or to null for `api` products without automatic renewal. */
        access_period_days?: number;
      }[];
      /** @description Destination of the money. */
      payout?: {
        /** @description Payment rail. GET /v1/access/rails lists them. */
        rail_id: string;
        /** @description Address of a Solana wallet. */
        wallet_address: string;
      };
      /**
       * @description Webhook endpoints.
       * @default []
       */
      webhooks?: {
        /** @description URL that receives the events. */
        url: string;
        /** @description Event types to send: `payment.confirmed`, a group such as `payment.*`, or `*`. GET /v1/webhooks/event-types lists them. */
        event_types: string[];
      }[];
      /**
       * @description Requested permissions of the live key: `read`, `execute`.
       * @default [
       *       "read",
       *       "execute"
       *     ]
       */
      requested_permissions?: string[];
      /**
       * @description Spending limits in USDC for payments with the setup secret. Days are UTC.
       * @default {}
       */
      spend_limits?: {
        /** @description Maximum of one payment. */
        per_payment?: {
          /** @description Asset: `USDC` or `SOL`. */
          asset: string;
          /** @description Decimal amount as text, such as `12.5`. USDC has at most 6 decimals, SOL at most 9; more are refused. */
          amount: string;
        };
        /** @description Maximum per day (UTC). */
        per_day?: {
          /** @description Asset: `USDC` or `SOL`. */
          asset: string;
          /** @description Decimal amount as text, such as `12.5`. USDC has at most 6 decimals, SOL at most 9; more are refused. */
          amount: string;
        };
      };
      /**
       * @description True if a live key is requested.
       * @default false
       */
      live_requested?: boolean;
    };
    ApproveSetupIntentRequest: {
      /** @description Secret of the setup, as shown when the setup was created. */
      setup_secret: string;
      /**
       * @description True to issue a live key. Requires a paid plan.
       * @default false
       */
      issue_live_key?: boolean;
      /**
       * @description Confirmation of live mode. Must be true to issue a live key.
       * @default false
       */
      live_mode_confirmed?: boolean;
      /**
       * Format: uuid
       * @description Live key of this setup to revoke, after a lost response or a leak. With `issue_live_key`, a new key is issued; without, none.
       */
      replace_live_key_id?: string;
    };
    ApprovedSetupIntent: components['schemas']['SetupIntent'] & {
      /** @description Live API key. Shown only in the response that issued it. */
      live_api_key?: string;
    };
    /** @description Scenarios. `expected` lists the event types of each in the order in which they are recorded. */
    SandboxScenarios: {
      /** @description Entries of this page. */
      items: {
        /** @description Name of the scenario. */
        scenario: string;
        /** @description Description of the scenario. */
        description: string;
        /** @description Available options of the scenario. */
        options: string[];
        /** @description Expected event types, in order. */
        expected: string[];
      }[];
    };
    SandboxSessionRequest: {
      /** @description Scenario from GET /v1/testing/scenarios. */
      scenario: string;
      /** @description Seed of the scenario. Sessions of one scenario and seed run the same steps in the same order. */
      seed?: string;
      /**
       * Format: uuid
       * @description Product to sell. By default the session creates one.
       */
      product_id?: string;
      /**
       * Format: uuid
       * @description Only endpoint that receives the events. Defaults to all sandbox endpoints.
       */
      endpoint_id?: string;
      /** @description Seconds by which to advance the clock after the scenario. */
      advance_seconds?: number;
      /**
       * @description Chosen options of the scenario.
       * @default {}
       */
      options?: {
        /** @description Amount to pay. Defaults to the price. */
        amount?: {
          /**
           * @description Asset: `USDC` or `SOL`.
           * @enum {string}
           */
          asset: 'USDC' | 'SOL';
          /** @description Decimal amount as text, such as `12.5`. USDC has at most 6 decimals, SOL at most 9; more are refused. */
          amount: string;
          /** @description Amount in the smallest units of the asset: an integer as text. */
          base_units?: string;
        };
        /** @description Delay in seconds. */
        delay_seconds?: number;
        /**
         * @description Failure to simulate.
         * @enum {string}
         */
        failure?: 'transaction_failed' | 'session_expired';
      };
    };
    SandboxSession: {
      /**
       * Format: uuid
       * @description Identifier of the session.
       */
      session_id: string;
      /** @description Name of the scenario. */
      scenario: string;
      /**
       * @description Status of the object.
       * @enum {string}
       */
      status: 'running' | 'completed' | 'failed';
      /**
       * @description True for real money, false for the sandbox.
       * @enum {boolean}
       */
      livemode: false;
      /** @description Seed of the scenario. The same seed produces the same steps. */
      seed: string;
      /** @description Clock of the session. It stops between advances. */
      clock: {
        /**
         * Format: date-time
         * @description Current time of the session.
         */
        now: string;
        /** @description Seconds by which the clock was advanced. */
        advanced_seconds: number;
      };
      /** @description Objects that the session created. */
      objects: {
        /** @description Type of the object. */
        type: string;
        /** @description Unique identifier. */
        id: string;
      }[];
      /** @description Steps, in order. */
      steps: {
        /**
         * Format: date-time
         * @description Time of the step, by the session’s clock.
         */
        at: string;
        /** @description Action of the step. */
        action: string;
        /** @description Object as its GET operation returns it. */
        object?: {
          /** @description Type of the object. */
          type: string;
          /** @description Unique identifier. */
          id: string;
        };
        /** @description Current state of the object. */
        state?: string;
        /** @description Identifier of the event. Use it to process each event once. */
        event_id?: string;
        /** @description Type of the event, such as `payment.confirmed`. */
        event_type?: string;
      }[];
      /** @description Delivery status of the session’s events. */
      deliveries: {
        /** @description Number of attempts. */
        sent: number;
        /** @description Number of deliveries that succeeded. */
        succeeded: number;
        /** @description Number of deliveries that failed. */
        failed: number;
      };
      /**
       * Format: date-time
       * @description Time at which the object was created.
       */
      created_at: string;
    };
    SandboxSessions: {
      /** @description Entries of this page. */
      items: components['schemas']['SandboxSession'][];
    };
    AdvanceRequest: {
      /** @description Seconds by which to advance the clock. */
      seconds: number;
    };
    TestPaymentRequest: {
      /**
       * Format: uuid
       * @description Identifier of the payment. It grants access to the payment’s status.
       */
      payment_id?: string;
      /** @description x402 challenge: the value of the PAYMENT-REQUIRED header, or its decoded object. */
      payment_required?:
        | string
        | {
            [key: string]: unknown;
          };
      /** @description Transaction, signed as a test wallet. Sent to the simulated chain if no other signature is missing; otherwise only signed. */
      transaction?: string;
      /**
       * @description Result of the test payment; `paid` by default.
       * @default paid
       * @enum {string}
       */
      outcome?: 'paid' | 'underpaid' | 'declined' | 'late' | 'overpaid';
      /** @description Name of a persistent test wallet. By default a new one is used each time. */
      wallet?: string;
    };
    TestPayment: {
      /** @description Signature of the transaction. */
      tx_signature?: string;
      /** @description Value for the `PAYMENT-SIGNATURE` header. */
      payment_signature?: string;
      /** @description Solana transaction in base64. Unsigned if the service created it. */
      transaction?: string;
      /** @description Wallet that paid. */
      payer_wallet: string;
    };
    TestIdentity: {
      /**
       * Format: uuid
       * @description Identifier of the session in which a buyer proves their identity.
       */
      identity_session_id: string;
      /** @description Buyer’s user id on the messaging platform. */
      provider_user_id: string;
      /** @description Buyer’s user name on the messaging platform. */
      username?: string;
    };
    CompletedTestIdentity: {
      /**
       * Format: uuid
       * @description Identifier of the session in which a buyer proves their identity.
       */
      identity_session_id: string;
      /**
       * @description Provider name.
       * @enum {string}
       */
      provider: 'telegram' | 'discord';
      /** @description Buyer’s user id on the messaging platform. */
      provider_user_id: string;
      /**
       * @description Status of the object.
       * @enum {string}
       */
      status: 'completed';
    };
    EventType: {
      /**
       * @description Type of the event.
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
      /** @description Description of the event type. */
      description: string;
      /** @description JSON Schema of the event. */
      schema: {
        [key: string]: unknown;
      };
      /** @description Example of an event of this type. */
      example: {
        [key: string]: unknown;
      };
    };
    TestWebhookRequest: {
      /**
       * @description Event type from the catalog.
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
    WebhookTestResult: {
      /** @description Identifier of the delivery. */
      delivery_id: number;
      /** @description Identifier of the event. Use it to process each event once. */
      event_id: string;
      /** @description True if the delivery succeeded. */
      succeeded: boolean;
      /** @description HTTP status that your server returned. */
      response_status?: number;
      /** @description Response time of your server in milliseconds. */
      response_ms?: number;
      /** @description Reason the attempt failed without a response. */
      error?: string;
    };
    ReceiptKeySet: {
      /** @description Public keys as a JWK set. */
      keys: {
        /**
         * @description JWK key type.
         * @enum {string}
         */
        kty: 'OKP';
        /**
         * @description JWK curve.
         * @enum {string}
         */
        crv: 'Ed25519';
        /** @description JWK public key. */
        x: string;
        /** @description JWK key identifier. */
        kid: string;
        /**
         * @description JWK key use.
         * @enum {string}
         */
        use: 'sig';
        /**
         * @description JWK algorithm.
         * @enum {string}
         */
        alg: 'EdDSA';
      }[];
    };
    MeteredAnnouncement: {
      /** @description Amount in base units, as text. */
      amount: string;
      /** @description Identifier of the delivery. */
      deliveryId?: string;
      /** @description Address of the channel. */
      sessionId: string;
    } & {
      [key: string]: unknown;
    };
    HealthResponse: {
      /**
       * @description Status of the object.
       * @enum {string}
       */
      status: 'ok' | 'degraded';
      /** @description API version. */
      version: string;
      /**
       * Format: date-time
       * @description Current time of the service.
       */
      time: string;
      /** @description Results of the checks. */
      checks: {
        /**
         * @description Status of the database.
         * @enum {string}
         */
        database: 'ok' | 'failing' | 'not_configured';
        /**
         * @description Status of the queues.
         * @enum {string}
         */
        queue: 'ok' | 'failing' | 'not_configured';
        /**
         * @description Status of the Solana node.
         * @enum {string}
         */
        rpc: 'ok' | 'failing' | 'not_configured';
        /**
         * @description Status of the SOL price source.
         * @enum {string}
         */
        price_source: 'ok' | 'failing' | 'not_configured';
        /**
         * @description Status of the payment processor.
         * @enum {string}
         */
        processor: 'ok' | 'failing' | 'not_configured';
        /**
         * @description Status of email. failing: an email has been due for half an hour; emails that the operator disabled do not count.
         * @enum {string}
         */
        mail: 'ok' | 'failing' | 'not_configured';
        /**
         * @description Status of the configuration. failing: all other routes return 503 `misconfigured`.
         * @enum {string}
         */
        configuration: 'ok' | 'failing' | 'not_configured';
        /**
         * @description Status of the keys. failing: an open payment, channel or subscription names a key that this deployment lacks.
         * @enum {string}
         */
        keys: 'ok' | 'failing' | 'not_configured';
        /**
         * @description Status of the fee payer. failing: it spent more within the last hour than the operator expects.
         * @enum {string}
         */
        fee_payer: 'ok' | 'failing' | 'not_configured';
      };
      /** @description Used share of the database, from 0 to 1. From 0.7 the status is degraded. null if the database does not respond. */
      database_used: number | null;
      /** @description Unconfigured parts of this deployment. null if the configuration is invalid as a whole. */
      not_configured: components['schemas']['Unconfigured'] | null;
    };
    PayoutChange: {
      /** @description New payout wallet; null: the default applies. */
      payout_wallet: string | null;
      /** @description Previous values of the changed fields, if known. */
      previous?: string | null;
      /**
       * Format: uuid
       * @description Identifier of the product.
       */
      product_id?: string;
      /** @description Payment rail. GET /v1/access/rails lists them. */
      rail_id?: string;
      /**
       * @description Author of the change.
       * @enum {string}
       */
      by: 'key' | 'person';
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
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
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
      /** @description Account and its session */
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
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
        'Idempotency-Key'?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Accepted */
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
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
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
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
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
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
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
      /** @description Accepted */
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
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
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
        /** @description Purpose of the sign-in: `login` or `register`. */
        mode?: 'login' | 'register';
        /** @description Path on this site to return to. */
        next?: string;
        /** @description Page that began the sign-in. */
        surface?: 'dashboard' | 'checkout';
      };
      header?: never;
      path: {
        /** @description Provider name. */
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
        /** @description Authorization code from the provider. */
        code?: string;
        /** @description State that was sent with the request. */
        state?: string;
        /** @description Error code from the provider. */
        error?: string;
        /** @description Human-readable error from the provider. */
        error_description?: string;
      };
      header?: never;
      path: {
        /** @description Provider name. */
        provider: 'google' | 'github';
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Redirect to `next`, with the result in the fragment */
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
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description Provider name. */
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
        /** @description Mode in which a token acts; live by default. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
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
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
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
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
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
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
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
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
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
        /** @description Mode in which a token acts; live by default. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
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
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
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
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description Identifier of the claim. */
        claim_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Released */
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
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description Provider name. */
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
        /** @description Mode in which a token acts; live by default. */
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
        /** @description Number of days back, if no dates are given. */
        window_days?: number;
        /** @description Number of recent days in `daily`. */
        daily_days?: number;
        /** @description First day, such as `2026-11-21`. */
        start_date?: string;
        /** @description Last day, such as `2026-11-21`. */
        end_date?: string;
        /** @description Mode in which a token acts; live by default. */
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
        /** @description Number of days back, if no dates are given. */
        window_days?: number;
        /** @description Number of recent days in `daily`. */
        daily_days?: number;
        /** @description First day, such as `2026-11-21`. */
        start_date?: string;
        /** @description Last day, such as `2026-11-21`. */
        end_date?: string;
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description One row per day, oldest first */
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
        /** @description Mode in which a token acts; live by default. */
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
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header?: never;
      path: {
        /** @description Identifier of the key. */
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
        /** @description `endpoints`: also disable the endpoints that the key created. */
        with?: 'endpoints';
      };
      header?: {
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description Identifier of the key. */
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
        /** @description Last part of the checkout page’s URL: lower-case letters, digits and hyphens. Derived from the name by default. */
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
        /** @description Page number, from 1. */
        page?: number;
        /** @description Number of entries per page. */
        per_page?: number;
        /** @description Return only objects with this status. */
        status?: 'active' | 'archived';
        /** @description Mode in which a token acts; live by default. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header?: never;
      path: {
        /** @description Identifier of the product. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description Identifier of the product. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description Identifier of the product. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description Identifier of the product. */
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
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description Last part of the checkout page’s URL: lower-case letters, digits and hyphens. Derived from the name by default. */
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
        /** @description Identifier of the payment. */
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
        /** @description Identifier of the payment. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description Identifier of the payment. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description Identifier of the product. */
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
        /** @description Last part of the checkout page’s URL. */
        slug: string;
        /** @description Token of the hand-off. */
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
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description Last part of the checkout page’s URL: lower-case letters, digits and hyphens. Derived from the name by default. */
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
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description Provider name. */
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
        /** @description Page number, from 1. */
        page?: number;
        /** @description Number of entries per page. */
        per_page?: number;
        /** @description Return only objects with this status. */
        status?: 'PENDING_SIGNATURE' | 'PENDING_CONFIRMATION' | 'CONFIRMED' | 'FAILED';
        /** @description Return only objects of this product. */
        product_id?: string;
        /** @description Return only objects of the customer with this reference. */
        customer_ref?: string;
        /** @description Return only payments from this wallet. */
        wallet?: string;
        /** @description Return only objects paid by this transaction. */
        tx_signature?: string;
        /** @description Payment rail. */
        rail_id?: 'solana_usdc' | 'solana_sol' | 'solana_usdc_subscription' | 'x402_solana_usdc' | 'mpp_solana_usdc';
        /** @description Return only payments in this asset. */
        asset?: 'USDC' | 'SOL';
        /** @description Return only objects from this time on. A date means its beginning in UTC. */
        created_from?: string;
        /** @description Return only objects before this time. */
        created_to?: string;
        /** @description Minimum price, in whole units of its asset. */
        min_amount?: string;
        /** @description Return only payments of at most this amount. */
        max_amount?: string;
        /** @description Search text. Matches the beginning (4 characters or more) of a payment id, receipt id, transaction signature, wallet or email address. If none begins with it, matches a memo, or part of a customer reference or product name. Text search and the filters of rail, asset and amount cover the 20,000 newest payments that the other filters select. */
        q?: string;
        /** @description Mode in which a token acts; live by default. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description Identifier of the payment. */
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
      /** @description Payment that was created from the money */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description Identifier of the payment. */
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
      /** @description Unsigned transaction in base64 */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description Identifier of the payment. */
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
      /** @description Payment with the refund */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Identity session with which the payment began. Shows the buyer’s access. */
        'X-Svc-Identity-Session'?: string;
      };
      path: {
        /** @description Identifier of the payment. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
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
      /** @description Queued; the outcome is not known yet */
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
        /** @description Return only objects of the customer with this wallet. */
        wallet_address?: string;
        /** @description Return only objects of the customer with this reference. */
        customer_ref?: string;
        /** @description Return only objects of the customer with this email address. */
        email?: string;
        /** @description Identifier of the payment. */
        payment_id?: string;
        /** @description Return only objects of this product. */
        product_id?: string;
        /** @description Mode in which a token acts; live by default. */
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
        /** @description Page number, from 1. */
        page?: number;
        /** @description Number of entries per page. */
        per_page?: number;
        /** @description Return only objects with this status. */
        status?: 'pending' | 'active' | 'grace' | 'expired' | 'cancelled';
        /** @description Return only objects of this product. */
        product_id?: string;
        /** @description Return only objects of the customer with this wallet. */
        wallet_address?: string;
        /** @description Search text. Matches the beginning (4 characters or more) of a payment id, receipt id, transaction signature, wallet, email address or membership id. If none begins with it, matches part of a customer reference or product name among the 20,000 newest memberships that the other filters select. */
        q?: string;
        /** @description Mode in which a token acts; live by default. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description Identifier of the membership. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header?: never;
      path: {
        /** @description Identifier of the receipt. */
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
        /** @description Page number, from 1. */
        page?: number;
        /** @description Number of entries per page. */
        per_page?: number;
        /** @description Return only objects of this wallet. */
        wallet?: string;
        /** @description Search text. Matches the beginning (4 characters or more) of a payment id, receipt id, transaction signature, wallet or email address. If none begins with it, matches words of the product name, invoice number, reference or billed name. */
        q?: string;
        /** @description Return only objects of this product. */
        product_id?: string;
        /** @description Direction of the receipts: received payments, payments for plans, or both. */
        direction?: 'received' | 'paid' | 'all';
        /** @description Mode in which a token acts; live by default. */
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
        /** @description Identifier of the receipt. */
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
        /** @description Identifier of the receipt. */
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
        /** @description Identifier of the receipt. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header?: never;
      path: {
        /** @description Identifier of the receipt. */
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
        /** @description Return only objects of this wallet. */
        wallet?: string;
        /** @description Search text. Matches the beginning (4 characters or more) of a payment id, receipt id, transaction signature, wallet or email address. If none begins with it, matches words of the product name, invoice number, reference or billed name. */
        q?: string;
        /** @description Return only objects of this product. */
        product_id?: string;
        /** @description Direction of the receipts: received payments, payments for plans, or both. */
        direction?: 'received' | 'paid' | 'all';
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description One row per receipt */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description Identifier of the receipt. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description Identifier of the receipt. */
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
        /** @description Page number, from 1. */
        page?: number;
        /** @description Number of entries per page. */
        per_page?: number;
        /** @description Mode in which a token acts; live by default. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description Identifier of the endpoint. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description Identifier of the endpoint. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description Identifier of the endpoint. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description Identifier of the endpoint. */
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
        /** @description Page number, from 1. */
        page?: number;
        /** @description Number of entries per page. */
        per_page?: number;
        /** @description Identifier of the endpoint. */
        endpoint_id?: string;
        /** @description Return only objects with this status. */
        status?: 'pending' | 'retrying' | 'succeeded' | 'failed' | 'cancelled';
        /** @description Mode in which a token acts; live by default. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description Identifier of the delivery. */
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
        /** @description Identifier of the payment. */
        payment_id?: string;
        /** @description Identifier of the membership. */
        membership_id?: string;
        /** @description Order of the events: oldest first (`asc`) or newest first. */
        order?: 'asc' | 'desc';
        /** @description Value of `next` from the previous page. */
        after?: string;
        /** @description Maximum number of entries. */
        limit?: number;
        /** @description Mode in which a token acts; live by default. */
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
        /** @description Page number, from 1. */
        page?: number;
        /** @description Number of entries per page. */
        per_page?: number;
        /** @description Return only events of this type. */
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
        /** @description Identifier of an event. The list begins after it. A list that is read by this cursor has no limit of 10,000 rows. */
        after?: string;
        /** @description Mode in which a token acts; live by default. */
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
        /** @description Mode in which a token acts; live by default. */
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
        /** @description Page number, from 1. */
        page?: number;
        /** @description Number of entries per page. */
        per_page?: number;
        /** @description Maximum number of entries. */
        limit?: number;
        /** @description Return only events of this type. */
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
        /** @description Identifier of an event. The list begins after it. A list that is read by this cursor has no limit of 10,000 rows. */
        after?: string;
        /** @description Mode in which a token acts; live by default. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description Identifier of the endpoint. */
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
        /** @description Provider name. */
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
        /** @description Page number, from 1. */
        page?: number;
        /** @description Number of entries per page. */
        per_page?: number;
        /** @description Return only objects with this status. */
        status?: 'open' | 'pending' | 'resolved' | 'closed';
        /** @description Scope of the list. `all`: tickets of all accounts, for staff. */
        scope?: 'mine' | 'all';
        /** @description Mode in which a token acts; live by default. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
        /** @description Return only messages before this one. */
        before?: string;
      };
      header?: never;
      path: {
        /** @description Identifier of the ticket. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description Identifier of the ticket. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description Identifier of the ticket. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description Identifier of the ticket. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header: {
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
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
      /** @description Consumed; serve the request */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header: {
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header: {
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
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
        /** @description Page number, from 1. */
        page?: number;
        /** @description Number of entries per page. */
        per_page?: number;
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
        /** @description Identifier of the product. */
        product_id?: string;
        /** @description Your own name for the product: up to 180 characters, unique within its mode. Send either this or `product_id`. */
        external_product_id?: string;
        /** @description Return only objects of the customer with this wallet. */
        wallet_address?: string;
        /** @description Return only objects of the customer with this reference. */
        customer_ref?: string;
        /** @description Return only objects with this status. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header?: never;
      path: {
        /** @description Identifier of the entitlement. */
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
        /** @description Mode in which a token acts; live by default. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header: {
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
        'Idempotency-Key': string;
      };
      path: {
        /** @description Payment rail. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header: {
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header: {
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
        /** @description Identifier of the product. */
        product_id?: string;
        /** @description Your own name for the product: up to 180 characters, unique within its mode. Send either this or `product_id`. */
        external_product_id?: string;
        /** @description Application that the product must belong to. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
        /** @description Identifier of the product. */
        product_id?: string;
        /** @description Your own name for the product: up to 180 characters, unique within its mode. Send either this or `product_id`. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header?: never;
      path: {
        /** @description Identifier of the product. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header?: never;
      path: {
        /** @description Identifier of the product. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header: {
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
        'Idempotency-Key': string;
      };
      path: {
        /** @description Identifier of the product. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header: {
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
        'Idempotency-Key': string;
      };
      path: {
        /** @description Identifier of the product. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header: {
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header: {
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
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
      /** @description Outcome not known yet */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Payment, as an x402 client encodes it. */
        'PAYMENT-SIGNATURE'?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Activated. The PAYMENT-RESPONSE header contains the transaction */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Activation'];
        };
      };
      /** @description Outcome not known yet */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Payment, as an x402 client encodes it. */
        'PAYMENT-SIGNATURE'?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Activated. The PAYMENT-RESPONSE header contains the transaction */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Activation'];
        };
      };
      /** @description Outcome not known yet */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Payment, as an x402 client encodes it. */
        'PAYMENT-SIGNATURE'?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Activated. The PAYMENT-RESPONSE header contains the transaction */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Activation'];
        };
      };
      /** @description Outcome not known yet */
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
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
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
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
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
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
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
      /** @description Verdict */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header: {
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header?: never;
      path: {
        /** @description Identifier of the session. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header: {
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
        'Idempotency-Key': string;
      };
      path: {
        /** @description Identifier of the session. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header: {
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
        'Idempotency-Key': string;
      };
      path: {
        /** @description Identifier of the session. */
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
        /** @description Credential of scheme `Payment`. */
        authorization?: string;
      };
      path: {
        /** @description Identifier of the session. */
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
        /** @description Credential of scheme `Payment`. */
        authorization?: string;
      };
      path: {
        /** @description Identifier of the session. */
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
        /** @description Page number, from 1. */
        page?: number;
        /** @description Number of entries per page. */
        per_page?: number;
        /** @description Return only objects with this status. */
        status?: 'pending' | 'active' | 'past_due' | 'requires_reapproval' | 'cancel_requested' | 'cancelled' | 'expired';
        /** @description Return only objects of this product. */
        product_id?: string;
        /** @description Mode in which a token acts; live by default. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header?: never;
      path: {
        /** @description Identifier of the native subscription. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header?: never;
      path: {
        /** @description Identifier of the native subscription. */
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
        /** @description Identifier of the native subscription. */
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
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
        'Idempotency-Key': string;
      };
      path: {
        /** @description Identifier of the native subscription. */
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
        /** @description Identifier of the setup intent. */
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
        /** @description Identifier of the setup intent. */
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
        /** @description Identifier of the setup intent. */
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
        /** @description Mode in which a token acts; live by default. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
        /** @description Maximum number of entries. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header?: never;
      path: {
        /** @description Identifier of the session. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description Identifier of the session. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
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
        /** @description Mode in which a token acts; live by default. */
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
        /** @description Mode in which a token acts; live by default. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address. */
        'Idempotency-Key'?: string;
      };
      path: {
        /** @description Identifier of the endpoint. */
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
        /** @description `1`: a degraded service returns 503 as well, for monitors that read the status alone. */
        strict?: '0' | '1';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Serving; degraded if a dependency fails */
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
        /** @description `1`: a degraded service returns 503 as well, for monitors that read the status alone. */
        strict?: '0' | '1';
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Serving; degraded if a dependency fails */
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
