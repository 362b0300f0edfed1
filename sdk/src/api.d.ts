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
    /** Create an account on the free plan */
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
    /** Sign in with e-mail and password */
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
    /** A Sign-In With Solana text for this wallet to sign, good once and for five minutes */
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
    /** Sign in with a wallet; the first time creates its account */
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
     * A new token, its claims read afresh from the account
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
    /** Says goodbye; the client discards its token */
    post: operations['logout'];
    delete?: never;
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
    /** The account that calls */
    get: operations['getAccount'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    /**
     * Change name, time zone or checkout settings
     * @description Settings are merged; an empty text clears one. `updated_fields` names what changed, settings as dotted paths.
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
     * Change e-mail or password; every session ends
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
     * Delete the account, at once and for ever
     * @description It needs a person who signed in within the last 15 minutes. Sessions, keys and webhooks end, what names a person is erased, hand-offs are 410 and products 404. Payments, memberships and receipts stay: they are also the buyers’. A payment under way is still confirmed. It needs no Idempotency-Key: sent again it finds the account deleted, and is answered 403 `account_deleted`.
     */
    delete: operations['deleteAccount'];
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
     * Keys without their raw values
     * @description A token sees the keys of both modes unless it names one, a key those of its own. Of revoked keys the last hundred of each mode are listed.
     */
    get: operations['listKeys'];
    put?: never;
    /**
     * Create a key; its raw value is shown once, here
     * @description A live key needs a person who signed in within the last 15 minutes (403 `sign_in_required`); a sandbox key does not.
     */
    post: operations['createKey'];
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
    /** Revoke a key, at once and for ever */
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
    /** What a buyer sees before paying */
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
    /** Products of the workspace, newest first */
    get: operations['listProducts'];
    put?: never;
    /** Create a product with a hosted checkout */
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
    /** One product */
    get: operations['getProduct'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    /** Change what is given; sessions under way keep their terms */
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
    /** Take a product off sale; running sessions finish */
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
    /** Put a product on sale again */
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
     * Start a checkout session
     * @description Without an asset it begins in the first of accepted_assets of the offer, or over the rail of the payment session. A payment session with a payment under way returns that one, in the asset it was begun in, whichever is asked for.
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
    /** Solana Pay transaction request: who asks */
    get: operations['getSolanaPay'];
    put?: never;
    /** Solana Pay transaction request: the transaction to sign */
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
     * Broadcast the signed transaction through us
     * @description It must be the transaction that connect prepared, signed. We keep its signature before it goes out, so closing the page loses nothing. While another one that we sent may still land: 409 `state_conflict` with `meta.reason` `in_flight` and Retry-After.
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
     * A link that brings a buyer you know to the checkout, recognised
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
    /** Whom a hand-off is for, without using it */
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
    /** Send a buyer to the messaging platform to show who they are */
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
    /** For our connectors: who came to show who they are */
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
    /** Payments, newest first, with money that missed its session */
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
     * Take money that missed its session: a new confirmed payment
     * @description For a late, short or second payment of this session, or one of a buyer who did not show who they are. A second time the answer is the same. Money that the chain dropped meanwhile cannot be accepted: 409 `state_conflict`, `meta.reason: transaction_orphaned`.
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
     * The receipt of a transaction that paid you
     * @description Idempotent: one transaction, one receipt. An open payment it pays is confirmed first.
     */
    post: operations['claimReceipt'];
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
     * The state of a payment
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
     * Tell us which transaction pays a session
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
     * What a chain data provider tells us
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
     * The membership of a customer
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
    /** Memberships, newest first */
    get: operations['listMemberships'];
    put?: never;
    post?: never;
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
    /** The full signed receipt */
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
    /** Receipts, newest first */
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
    /** The proof anybody may see */
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
    /** Recompute the hash and check the signature */
    get: operations['verifyReceipt'];
    put?: never;
    post?: never;
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
    /** Endpoints, newest first */
    get: operations['listWebhookEndpoints'];
    put?: never;
    /** Create an endpoint; its secret is shown here and at rotation only */
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
    /** Disable an endpoint; it is not erased */
    delete: operations['disableWebhookEndpoint'];
    options?: never;
    head?: never;
    /** Change what is given; `status: enabled` revives */
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
    /** A new secret; the old one signs beside it for a while */
    post: operations['rotateWebhookSecret'];
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
    /** Send a real, signed test event now and say what came back */
    post: operations['testWebhookEndpoint'];
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
     * Deliver everything of a time that never arrived
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
    /** Deliveries, newest first */
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
    /** The same event once more, as a delivery of its own */
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
    /** The story of a payment or membership, oldest first */
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
    /** Emitted events in the order they happened */
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
    /** How well events leave the house */
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
     * Emitted events in the order they happened
     * @description `limit` is another name for `per_page`; both at once is 422.
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
    /** REST hook: subscribe */
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
    /** REST hook: unsubscribe */
    delete: operations['unsubscribeHook'];
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
     * Use units before serving a request; refused with a ready challenge where nothing is left
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
    /** Give units or days without a payment */
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
     * Free the units of a consumption that could not be served
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
    /** Entitlements as of a few seconds ago */
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
    /** One entitlement as it is this moment */
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
    /** The ways of being paid, and how each is right now */
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
    /** Your settings of every rail, and whether their payout accounts exist */
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
     * Switch a rail on or off, or say where it pays out
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
    /** Name an application that your products belong to */
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
     * Create a product, at most once
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
     * What is still missing for a sale, and the call that mends each
     * @description Name a product to have a whole sale judged; without one only the account is. A sandbox key is answered for the sandbox, where whatever concerns the chain is skipped. `docs_url` of a check points at its meaning in this document.
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
    /** Every rail, and whether this product could be sold over it right now */
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
    /** The same, by the id of the product */
    get: operations['listProductRails'];
    put?: never;
    post?: never;
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
     * Open a checkout for one buyer, with the price and customer fixed for 30 minutes
     * @description Connect with `payment_session_id` begins its payment; it holds at most one that is not over, and connect again returns that one, in the asset it was begun in, whichever is asked for. After a failed payment a new one may begin while the session lives.
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
     * Settle a PAYMENT-SIGNATURE: verify, co-sign, broadcast, confirm, grant, and use units at once
     * @description One payment counts once, for ever. Sent again under its key it gives the first result. Under any other key it answers `duplicate: true` with `consumed_units: 0` and what the customer holds by now, and the header `X-Svc-Duplicate-Settlement: true`: nothing may be served for that, unless what was consumed was refunded before; then it serves one more request. 202 means the outcome is not known yet: send the same payment again, never ask for a new one. We pay the network's fee of 100 payments a day (free), 5000 payments a day (starter), 50000 payments a day (growth), 500000 payments a day (scale), and free accounts share a budget of the deployment. Once half of it went to payments that failed on chain, the rest of the day is for wallets that have paid you before. Buying a plan uses none of these. A payer may have 5 payments open, and 10 that failed on chain in 10 minutes, over all merchants. Beyond that it is 429 `rate_limited`, and `meta` has the `reason` (`fee_budget` or `payer_busy`), the limit and what is left.
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
     * Buy 30 days of the starter plan
     * @description Costs 19 USDC, paid by x402 V2 to the service. Without PAYMENT-SIGNATURE the answer is 402 with the challenge in PAYMENT-REQUIRED; sent again with PAYMENT-SIGNATURE it is 200 with PAYMENT-RESPONSE. The public x402 client refuses more than $1 unless told otherwise: `client.setSpendControls({ maxAmountPerPayment: '$19' })`. What is paid for already keeps its value: the same plan lasts 30 days longer; a higher one begins now and lasts 30 days plus what was left, converted at the two prices. The 402 says in `meta` what that comes to: `plan` and `paid_through`, as if it were paid now. The new limits hold on the very next request. One payment counts once: sent again it gives the first answer. A lower plan while a higher one runs is 409; should a higher one have begun since the payment was sent, it is prolonged by what the money buys at its price. 202 means the outcome is not known yet: send the same payment again, never a new one; a setup does not end before it is. A plan that ends becomes free at that instant. Over a plan that does not end nothing is sold (409).
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
     * Buy 30 days of the growth plan
     * @description Costs 49 USDC, paid by x402 V2 to the service. Without PAYMENT-SIGNATURE the answer is 402 with the challenge in PAYMENT-REQUIRED; sent again with PAYMENT-SIGNATURE it is 200 with PAYMENT-RESPONSE. The public x402 client refuses more than $1 unless told otherwise: `client.setSpendControls({ maxAmountPerPayment: '$49' })`. What is paid for already keeps its value: the same plan lasts 30 days longer; a higher one begins now and lasts 30 days plus what was left, converted at the two prices. The 402 says in `meta` what that comes to: `plan` and `paid_through`, as if it were paid now. The new limits hold on the very next request. One payment counts once: sent again it gives the first answer. A lower plan while a higher one runs is 409; should a higher one have begun since the payment was sent, it is prolonged by what the money buys at its price. 202 means the outcome is not known yet: send the same payment again, never a new one; a setup does not end before it is. A plan that ends becomes free at that instant. Over a plan that does not end nothing is sold (409).
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
     * Buy 30 days of the scale plan
     * @description Costs 199 USDC, paid by x402 V2 to the service. Without PAYMENT-SIGNATURE the answer is 402 with the challenge in PAYMENT-REQUIRED; sent again with PAYMENT-SIGNATURE it is 200 with PAYMENT-RESPONSE. The public x402 client refuses more than $1 unless told otherwise: `client.setSpendControls({ maxAmountPerPayment: '$199' })`. What is paid for already keeps its value: the same plan lasts 30 days longer; a higher one begins now and lasts 30 days plus what was left, converted at the two prices. The 402 says in `meta` what that comes to: `plan` and `paid_through`, as if it were paid now. The new limits hold on the very next request. One payment counts once: sent again it gives the first answer. A lower plan while a higher one runs is 409; should a higher one have begun since the payment was sent, it is prolonged by what the money buys at its price. 202 means the outcome is not known yet: send the same payment again, never a new one; a setup does not end before it is. A plan that ends becomes free at that instant. Over a plan that does not end nothing is sold (409).
     */
    post: operations['activateScale'];
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
     * What this facilitator takes, as x402 resource servers ask for it
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
     * Verify a payment for your own x402 server
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
     * Settle a payment for your own x402 server
     * @description Reference body and answer, 200 also where it is refused. The payment itself is the idempotency key: it is settled once, and `success: true` is answered to one call ever, because your server serves for each. All others, at once or later, get `duplicate_settlement` with the signature in `transaction`. `settlement_pending` means that nobody was told yet: ask again with the same payment. If you call this yourself and lose the answer, `duplicate_settlement` and a confirmed `transaction` tell that it was paid. Nothing is granted and no payment is recorded: your server keeps the books. We pay the network's fee of 100 payments a day (free), 5000 payments a day (starter), 50000 payments a day (growth), 500000 payments a day (scale), and free accounts share a budget of the deployment. Once half of it went to payments that failed on chain, the rest of the day is for wallets that have paid you before. Buying a plan uses none of these. A payer may have 5 payments open, and 10 that failed on chain in 10 minutes, over all merchants. Beyond that it is 429 `rate_limited`, and `meta` has the `reason` (`fee_budget` or `payer_busy`), the limit and what is left.
     */
    post: operations['settleFacilitatedPayment'];
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
     * Start as an agent: an account, a sandbox key, and the way to a live one
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
     * How a setup stands, and what to do next
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
     * Say what you sell, and have it evaluated with findings to act on
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
     * Approve a ready manifest, with a live key where a plan is active
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
    /** What can be tried in the sandbox */
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
    /** Recent sandbox sessions, newest first */
    get: operations['listSandboxSessions'];
    put?: never;
    /**
     * Run a scenario: the live code, on a simulated chain and a clock of its own
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
    /** One sandbox session */
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
     * Move the clock of a session on
     * @description What falls due on the way happens in its order and at its time. At most 400 days; a session moves one way and once at a time.
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
     * Pay as a test wallet would
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
    /** Complete a buyer’s identity as the connector would */
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
    /** Every event that can be emitted, with its JSON Schema and an example */
    get: operations['listEventTypes'];
    put?: never;
    post?: never;
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
    /** Public keys that sign receipts, old ones too */
    get: operations['getReceiptKeys'];
    put?: never;
    post?: never;
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
    /** Is the service well? */
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
    /** Is the service well? */
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
      /** Format: uuid */
      payment_id: string;
      /** Format: uuid */
      product_id: string;
      slug: string;
      /** @enum {string} */
      status: 'PENDING_SIGNATURE' | 'PENDING_CONFIRMATION' | 'CONFIRMED' | 'FAILED';
      /** @enum {string} */
      failure_code?: 'session_expired' | 'underpaid' | 'transaction_failed';
      failure_reason?: string;
      price: components['schemas']['Money'];
      fee?: components['schemas']['Money'];
      fee_owed?: components['schemas']['Money'];
      net?: components['schemas']['Money'] & unknown;
      overpaid?: components['schemas']['Money'];
      payer_wallet?: string;
      recipient_wallet: string;
      memo: string;
      references: string[];
      tx_signature?: string;
      slot?: number;
      /** Format: date-time */
      block_time?: string;
      /** Format: date-time */
      confirmed_at?: string;
      /** Format: date-time */
      finalized_at?: string;
      /**
       * Format: date-time
       * @description The chain dropped the transaction after it was confirmed. Access was revoked, and is given back should it be there after all.
       */
      orphaned_at?: string;
      /** Format: date-time */
      expires_at: string;
      /** @description Merchant view only. */
      customer_ref?: string;
      /** Format: uuid */
      membership_id?: string;
      /** Format: uuid */
      receipt_id?: string;
      /**
       * Format: uuid
       * @description The session this money had missed.
       */
      recovers_payment_id?: string;
      price_quote?: components['schemas']['PriceQuote'];
      /** @description Who the buyer showed to be. Merchant view only. */
      buyer_identity?: {
        /** @enum {string} */
        provider: 'telegram' | 'discord';
        provider_user_id: string;
        username?: string;
      };
      /** @description Of the payment session, else of the hand-off. Merchant view only. */
      metadata?: {
        [key: string]: string;
      };
      /** @description Money that arrived and pays no session, the ten largest; every one is an event, and is accepted by its signature. Merchant view only. */
      unmatched?: components['schemas']['UnmatchedPayment'][];
      livemode: boolean;
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      updated_at: string;
      version: number;
      poll_after_ms: number | null;
    };
    Money: {
      /** @enum {string} */
      asset: 'USDC' | 'SOL';
      amount: string;
      base_units: string;
    };
    /** @description Where the price was converted into the asset that is paid. */
    PriceQuote: {
      /** @description USDC for one SOL; a USDC is taken for a dollar. */
      rate: string;
      source: string;
      /** Format: date-time */
      as_of: string;
      /** Format: date-time */
      expires_at: string;
    };
    UnmatchedPayment: {
      /** Format: uuid */
      unmatched_id: string;
      /** Format: uuid */
      payment_id: string;
      tx_signature: string;
      amount: components['schemas']['Money'];
      payer_wallet: string;
      /** Format: date-time */
      block_time: string;
      /** @enum {string} */
      reason: 'late' | 'underpaid' | 'second_payment' | 'identity_missing';
      /** @enum {string} */
      status: 'open' | 'accepted';
      /** Format: uuid */
      recovered_payment_id?: string;
    };
    Event: {
      id: string;
      /** @enum {string} */
      type:
        | 'payment.created'
        | 'payment.submitted'
        | 'payment.confirmed'
        | 'payment.finalized'
        | 'payment.failed'
        | 'payment.unmatched'
        | 'payment.orphaned'
        | 'receipt.created'
        | 'membership.activated'
        | 'membership.renewed'
        | 'membership.grace_started'
        | 'membership.expired'
        | 'membership.access_revoked'
        | 'entitlement.granted'
        | 'entitlement.exhausted'
        | 'entitlement.expired'
        | 'payout.changed'
        | 'webhook.test'
        | 'webhook.endpoint_failing'
        | 'webhook.endpoint_disabled';
      /** Format: date-time */
      created_at: string;
      livemode: boolean;
      api_version: string;
      /** Format: uuid */
      account_id: string;
      subject: {
        type: string;
        id: string;
        version: number;
      };
      data: {
        object: {
          [key: string]: unknown;
        };
        previous?: {
          [key: string]: unknown;
        };
      };
    };
    Receipt: {
      /** Format: uuid */
      receipt_id: string;
      tx_sig: string;
      document: components['schemas']['ReceiptDocument'];
      sha256: string;
      /** @description Ed25519 over the bytes, base58. */
      signature: string;
      key_id: string;
      verify_url: string;
      public_url: string;
      /** @description Place in the merchant’s hash chain. Merchant view only. */
      link?: {
        seq: number;
        /** @description Of the link before: the lower-case hex SHA-256 over the RFC 8785 bytes of `{"prev_hash": its prev_hash, "seq": its seq, "sha256": the sha256 of its receipt}`. The first link (`seq` 1) of a merchant and mode carries 64 zeros. */
        prev_hash: string;
      };
      /** Format: date-time */
      created_at: string;
    };
    /** @description Signed as its RFC 8785 bytes. */
    ReceiptDocument: {
      /** @enum {string} */
      version: '1';
      /** Format: uuid */
      receipt_id: string;
      tx_sig: string;
      network: string;
      slot: number;
      /** Format: date-time */
      block_time: string;
      payer: string;
      recipient: string;
      amount: components['schemas']['Money'];
      fee?: components['schemas']['Money'];
      /** Format: uuid */
      product_id: string;
      product_name: string;
      merchant: {
        /** Format: uuid */
        account_id: string;
        display_name: string;
      };
      memo: string;
      /** Format: date-time */
      issued_at: string;
      livemode: boolean;
    };
    Membership: {
      /** Format: uuid */
      membership_id: string;
      /** Format: uuid */
      product_id: string;
      customer: {
        wallet_address?: string;
        customer_ref?: string;
        email?: string;
      };
      /** @enum {string} */
      status: 'pending' | 'active' | 'grace' | 'expired' | 'cancelled';
      paid_through: string | null;
      /** Format: date-time */
      grace_until?: string;
      cancel_at_period_end: boolean;
      /** Format: date-time */
      cancelled_at?: string;
      delivery: {
        /** @enum {string} */
        status: 'not_required' | 'pending' | 'delivered' | 'failed' | 'revoked';
        attempts: number;
      };
      /** Format: uuid */
      last_payment_id: string;
      livemode: boolean;
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      updated_at: string;
      version: number;
    };
    Entitlement: {
      /** Format: uuid */
      entitlement_id: string;
      /** Format: uuid */
      product_id: string;
      customer: components['schemas']['Customer'];
      /** @enum {string} */
      status: 'active' | 'exhausted' | 'expired' | 'revoked';
      /** @description null while use is not counted. */
      granted_units: number | null;
      used_units: number;
      remaining: number | null;
      paid_through: string | null;
      livemode: boolean;
      version: number;
      /** Format: date-time */
      updated_at: string;
    };
    Customer: {
      wallet_address?: string;
      customer_ref?: string;
    };
    PayoutChange: {
      /** @description The wallet that is paid from now on; null: what it falls back to. */
      payout_wallet: string | null;
      previous?: string | null;
      /** Format: uuid */
      product_id?: string;
      rail_id?: string;
      /** @enum {string} */
      by: 'key' | 'person';
    };
    WebhookEndpoint: {
      /** Format: uuid */
      endpoint_id: string;
      /** @enum {string} */
      kind: 'webhook' | 'automation';
      url: string;
      description?: string;
      event_types: string[];
      product_ids: string[];
      /** @enum {string} */
      status: 'enabled' | 'disabled';
      disabled_reason?: string;
      /** @enum {string} */
      signed_payload: 'timestamp.body' | 'body';
      secret_hint: string;
      /** Format: date-time */
      last_success_at?: string;
      /** Format: date-time */
      last_failure_at?: string;
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
      livemode: boolean;
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      updated_at: string;
    };
    AuthResponse: {
      token: string;
      /** Format: uuid */
      user_id: string;
      /** @enum {string} */
      tier: 'free' | 'starter' | 'growth' | 'scale';
      email: string | null;
      claims: components['schemas']['Claims'];
      /** Format: date-time */
      expires_at: string;
    };
    Claims: {
      svc_score: boolean;
      svc_pay: boolean;
      svc_ops: boolean;
      is_staff: boolean;
    };
    Error: {
      detail: string;
      /** @enum {string} */
      code:
        | 'idempotency_key_required'
        | 'idempotency_key_too_long'
        | 'idempotency_key_invalid'
        | 'invalid_rpc_payload'
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
        | 'idempotency_in_progress'
        | 'idempotency_conflict'
        | 'idempotency_race'
        | 'setup_not_ready'
        | 'duplicate_settlement'
        | 'state_conflict'
        | 'session_expired'
        | 'handoff_expired'
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
        | 'fee_wallet_missing'
        | 'handoff_not_configured'
        | 'price_unavailable'
        | 'rpc_unavailable'
        | 'temporarily_unavailable';
      request_id: string;
      docs_url: string;
      retryable: boolean;
      meta: {
        [key: string]: unknown;
      };
    };
    HTTPValidationError: {
      detail: {
        loc: (string | number)[];
        msg: string;
        type: string;
        /** @description Of an `unknown_field`: the known field whose name is nearest, if one is near. */
        ctx?: {
          nearest?: string;
        };
      }[];
      /** @enum {string} */
      code:
        | 'idempotency_key_required'
        | 'idempotency_key_too_long'
        | 'idempotency_key_invalid'
        | 'invalid_rpc_payload'
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
        | 'idempotency_in_progress'
        | 'idempotency_conflict'
        | 'idempotency_race'
        | 'setup_not_ready'
        | 'duplicate_settlement'
        | 'state_conflict'
        | 'session_expired'
        | 'handoff_expired'
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
        | 'fee_wallet_missing'
        | 'handoff_not_configured'
        | 'price_unavailable'
        | 'rpc_unavailable'
        | 'temporarily_unavailable';
      request_id: string;
      docs_url: string;
      retryable: boolean;
      meta: {
        [key: string]: unknown;
      };
    };
    RegisterRequest: {
      /** Format: email */
      email: string;
      password: string;
      display_name: string;
    };
    LoginRequest: {
      /** Format: email */
      email: string;
      password: string;
    };
    WalletNonce: {
      message_nonce: string;
      message: string;
      /** Format: date-time */
      issued_at: string;
      /** Format: date-time */
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
      message_nonce: string;
    };
    RefreshRequest: {
      token?: string;
    };
    DetailResponse: {
      detail: string;
    };
    Account: {
      /** Format: uuid */
      user_id: string;
      email: string | null;
      wallet_address: string | null;
      display_name: string;
      /** @enum {string} */
      tier: 'free' | 'starter' | 'growth' | 'scale';
      /** @enum {string} */
      status: 'active' | 'suspended' | 'deleted';
      email_verified: boolean;
      timezone: string;
      /** Format: date-time */
      created_at: string;
      key_id: string | null;
      sandbox: boolean;
      notification_prefs: {
        [key: string]: boolean;
      };
      merchant_settings: components['schemas']['MerchantSettings'];
      claims: components['schemas']['Claims'];
      has_password: boolean;
      auth_providers: string[];
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
    UpdateResponse: {
      detail: string;
      updated_fields: string[];
    };
    UpdateAccountRequest: {
      display_name?: string;
      timezone?: string;
      merchant_settings?: components['schemas']['MerchantSettingsPatch'];
    };
    MerchantSettingsPatch: {
      checkout_brand_name?: '' | string;
      checkout_logo_url?: '' | string;
      checkout_hero_image_url?: '' | string;
      checkout_success_button_label?: '' | string;
      checkout_accent_hex?: '' | string;
      default_redirect_url?: '' | string;
      default_support_url?: '' | string;
    };
    ChangeSecurityRequest: {
      /** Format: email */
      email?: string;
      current_password?: string;
      new_password?: string;
    };
    ApiKey: {
      /** Format: uuid */
      id: string;
      name: string;
      key_prefix: string;
      permissions: ('read' | 'execute' | 'admin')[];
      sandbox_mode: boolean;
      last_used_at: string | null;
      /** Format: date-time */
      created_at: string;
      revoked_at: string | null;
      usage_summary: {
        total_calls: number;
        success_calls: number;
        error_calls: number;
        credits_burned: number;
        latest_activity_at: string | null;
        latest_endpoint: string | null;
      };
      recent_activity: {
        /** Format: date-time */
        at: string;
        method: string;
        endpoint: string;
        status: number;
        request_id: string;
      }[];
    };
    CreatedApiKey: {
      key: components['schemas']['ApiKey'];
      raw_key: string;
    };
    CreateKeyRequest: {
      name: string;
      /** @default false */
      sandbox_mode?: boolean;
      /**
       * @default [
       *       "read",
       *       "execute"
       *     ]
       */
      permissions?: ('read' | 'execute' | 'admin')[];
    };
    Offer: {
      /** Format: uuid */
      product_id: string;
      slug: string;
      name: string;
      description?: string;
      price: components['schemas']['Money'];
      /** @description What can be paid in: connect without an asset begins in the first. Empty where nothing can be paid. */
      accepted_assets: ('USDC' | 'SOL')[];
      /** @enum {string} */
      billing_model: 'one_off' | 'recurring';
      access_period_days: number | null;
      usage_units: number | null;
      unit_name?: string;
      requires_identity: ('telegram' | 'discord') | null;
      network: string;
      livemode: boolean;
      checkout_url: string;
      merchant: {
        display_name: string;
        brand_name?: string;
        logo_url?: string;
        hero_image_url?: string;
        accent_hex?: string;
        success_button_label?: string;
        support_url?: string;
      };
    };
    Product: {
      /** Format: uuid */
      product_id: string;
      slug: string;
      external_product_id?: string;
      /** Format: uuid */
      access_app_id?: string;
      name: string;
      description?: string;
      /** @enum {string} */
      product_type: 'api' | 'link' | 'telegram' | 'discord';
      /** @enum {string} */
      status: 'active' | 'archived';
      price: components['schemas']['Money'];
      accepted_assets: ('USDC' | 'SOL')[];
      /** @enum {string} */
      billing_model: 'one_off' | 'recurring';
      /** @enum {string} */
      renewal_mode: 'ONE_OFF' | 'AUTOMATIC';
      access_period_days: number | null;
      usage_units: number | null;
      unit_name?: string;
      payout_wallet?: string;
      default_rail: string;
      allowed_rails: string[];
      grace_hours: number;
      session_seconds?: number;
      requires_identity: ('telegram' | 'discord') | null;
      success_url?: string;
      metadata: {
        [key: string]: string;
      };
      live_mode_confirmed: boolean;
      trusted_customer_ref: boolean;
      livemode: boolean;
      checkout_url: string;
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      updated_at: string;
    };
    CreateProductRequest: {
      name: string;
      price: components['schemas']['MoneyInput'];
      slug?: string;
      external_product_id?: string;
      description?: string;
      /**
       * @default api
       * @enum {string}
       */
      product_type?: 'api' | 'link' | 'telegram' | 'discord';
      accepted_assets?: ('USDC' | 'SOL')[];
      /** @enum {string} */
      billing_model?: 'one_off' | 'recurring';
      renewal_mode?: ('ONE_OFF' | 'AUTOMATIC' | 'solana_native_subscription') | null;
      access_period_days?: number | null;
      usage_units?: number | null;
      unit_name?: string;
      payout_wallet?: string;
      grace_hours?: number;
      session_seconds?: number;
      /** @description Where a buyer has to show who they are before they pay. What it is now counts, also for payments already begun: without that identity they are not confirmed, and money that comes all the same is unmatched once they have ended. */
      requires_identity?: ('telegram' | 'discord') | null;
      /** @enum {string} */
      default_rail?: 'solana_usdc' | 'solana_sol' | 'x402_solana_usdc';
      allowed_rails?: ('solana_usdc' | 'solana_sol' | 'x402_solana_usdc')[];
      /**
       * Format: uuid
       * @description An app of yours, in the same mode.
       */
      access_app_id?: string;
      delivery?: unknown;
      /** Format: uri */
      success_url?: string;
      metadata?: {
        [key: string]: string;
      };
      live_mode_confirmed?: boolean;
      /**
       * @description Take `customer_ref` from your server alone, by payment session or hand-off. Without it a buyer may name one at connect: such a reference proves nothing, and a purchase under a known one extends that membership without changing its wallet or e-mail.
       * @default false
       */
      trusted_customer_ref?: boolean;
    };
    MoneyInput: {
      /** @enum {string} */
      asset: 'USDC' | 'SOL';
      amount: string;
    };
    UpdateProductRequest: {
      name?: string;
      price?: components['schemas']['MoneyInput'];
      external_product_id?: string | null;
      description?: string | null;
      /**
       * @default api
       * @enum {string}
       */
      product_type?: 'api' | 'link' | 'telegram' | 'discord';
      accepted_assets?: ('USDC' | 'SOL')[];
      /** @enum {string} */
      billing_model?: 'one_off' | 'recurring';
      renewal_mode?: ('ONE_OFF' | 'AUTOMATIC' | 'solana_native_subscription') | null;
      access_period_days?: number | null;
      usage_units?: number | null;
      unit_name?: string | null;
      payout_wallet?: string | null;
      grace_hours?: number;
      session_seconds?: number | null;
      /** @description Where a buyer has to show who they are before they pay. What it is now counts, also for payments already begun: without that identity they are not confirmed, and money that comes all the same is unmatched once they have ended. */
      requires_identity?: ('telegram' | 'discord') | null;
      /** @enum {string} */
      default_rail?: 'solana_usdc' | 'solana_sol' | 'x402_solana_usdc';
      allowed_rails?: ('solana_usdc' | 'solana_sol' | 'x402_solana_usdc')[];
      access_app_id?: string | null;
      delivery?: unknown;
      success_url?: string | null;
      metadata?: {
        [key: string]: string;
      };
      live_mode_confirmed?: boolean;
      /**
       * @description Take `customer_ref` from your server alone, by payment session or hand-off. Without it a buyer may name one at connect: such a reference proves nothing, and a purchase under a known one extends that membership without changing its wallet or e-mail.
       * @default false
       */
      trusted_customer_ref?: boolean;
    };
    ProductPage: {
      items: components['schemas']['Product'][];
      page: number;
      per_page: number;
      total: number;
      total_pages: number;
      has_more: boolean;
      /** @enum {boolean} */
      total_exact?: false;
    };
    ConnectResponse: {
      /** Format: uuid */
      payment_id: string;
      /**
       * @description PENDING_CONFIRMATION only where the payment session already holds a payment that is on its way: wait, do not pay again.
       * @enum {string}
       */
      status: 'PENDING_SIGNATURE' | 'PENDING_CONFIRMATION';
      nonce: string;
      memo: string;
      price: components['schemas']['Money'];
      recipient: string;
      fee?: {
        recipient: string;
        /** @enum {string} */
        asset: 'USDC' | 'SOL';
        amount: string;
        base_units: string;
      };
      network: string;
      mint?: string;
      decimals: number;
      references: string[];
      solana_pay_url: string;
      /** @description Unsigned, base64. Sign it and send it to POST /v1/payments/{payment_id}/transaction. */
      transaction?: string;
      last_valid_block_height?: number;
      price_quote?: components['schemas']['PriceQuote'];
      /** Format: date-time */
      expires_at: string;
      status_url: string;
      poll_after_ms: number | null;
    };
    /** @description The buyer has to show who they are first: POST /v1/products/p/{slug}/identity, then connect again with its identity_session_id. */
    IdentityNeeded: {
      identity: {
        /** @enum {boolean} */
        required: true;
        /** @enum {string} */
        provider: 'telegram' | 'discord';
      };
    };
    ConnectRequest: {
      /** @enum {string} */
      asset?: 'USDC' | 'SOL';
      /** @description With it comes a transaction, ready to sign. */
      wallet_address?: string;
      /** Format: email */
      email?: string;
      /** @description The merchant's own name for the buyer; keys membership and entitlement. Said here it is a claim of the buyer's: it extends a known membership and never changes its wallet or e-mail. 422 where the product has `trusted_customer_ref`. */
      customer_ref?: string;
      /** @description The language the buyer reads, as `pt-BR` (BCP 47) or `pt_BR`. It is kept with the payment; what is no language is left out. */
      locale?: string;
      handoff_token?: string;
      /** Format: uuid */
      identity_session_id?: string;
      /**
       * Format: uuid
       * @description From POST /v1/access/payment-sessions: its price, customer and success URL win, and it is paid once.
       */
      payment_session_id?: string;
    };
    SolanaPayLabel: {
      label: string;
      /** Format: uri */
      icon: string;
    };
    SolanaPayTransaction: {
      transaction: string;
      message: string;
    };
    SolanaPayRequest: {
      account: string;
    } & {
      [key: string]: unknown;
    };
    SendTransactionResponse: {
      payment: components['schemas']['Payment'];
      tx_signature: string;
    };
    SendTransactionRequest: {
      transaction: string;
    };
    Handoff: {
      handoff_token: string;
      url: string;
      /** Format: date-time */
      expires_at: string;
    };
    HandoffRequest: {
      customer_ref?: string;
      /** Format: email */
      email?: string;
      wallet_address?: string;
      /** Format: uri */
      success_url?: string;
      metadata?: {
        [key: string]: string;
      };
    };
    ResolvedHandoff: {
      /** Format: uuid */
      product_id: string;
      slug: string;
      /** @description Shortened, for the buyer to recognise. */
      customer_label?: string;
      /** Format: date-time */
      expires_at: string;
    };
    IdentitySession: {
      /** Format: uuid */
      identity_session_id: string;
      /** @enum {string} */
      provider: 'telegram' | 'discord';
      deep_link: string;
      /** Format: date-time */
      expires_at: string;
    };
    CompletedIdentity: {
      /** Format: uuid */
      identity_session_id: string;
      /** @enum {string} */
      provider: 'telegram' | 'discord';
      provider_user_id: string;
      username?: string;
      /** @enum {string} */
      status: 'completed';
      /** Format: date-time */
      completed_at: string;
      /** Format: date-time */
      expires_at: string;
    };
    ConnectorIdentity: {
      /** Format: uuid */
      identity_session_id: string;
      provider_user_id: string;
      username?: string;
    };
    PaymentPage: {
      items: components['schemas']['Payment'][];
      page: number;
      per_page: number;
      total: number;
      total_pages: number;
      has_more: boolean;
      /** @enum {boolean} */
      total_exact?: false;
    };
    AcceptUnmatchedRequest: {
      tx_signature: string;
    };
    ReceiptRequest: {
      tx_sig: string;
    };
    ConfirmResponse: {
      payment: components['schemas']['Payment'];
      /** Format: uuid */
      membership_id?: string;
      /** Format: uuid */
      receipt_id?: string;
      redirect_url?: string;
      already_confirmed: boolean;
    };
    ConfirmRequest: {
      /** Format: uuid */
      payment_id: string;
      tx_signature: string;
    };
    ChainWebhookResponse: {
      accepted: number;
    };
    MembershipPage: {
      items: components['schemas']['Membership'][];
      page: number;
      per_page: number;
      total: number;
      total_pages: number;
      has_more: boolean;
      /** @enum {boolean} */
      total_exact?: false;
    };
    ReceiptPage: {
      items: components['schemas']['Receipt'][];
      page: number;
      per_page: number;
      total: number;
      total_pages: number;
      has_more: boolean;
      /** @enum {boolean} */
      total_exact?: false;
    };
    ReceiptVerification: {
      valid: boolean;
      /** @enum {string} */
      reason?: 'sha256_mismatch' | 'signature_invalid' | 'unknown_key' | 'record_mismatch' | 'transaction_orphaned';
      sha256_matches: boolean;
      signature_valid: boolean;
      key_id: string;
      sha256: string;
      /** Format: date-time */
      checked_at: string;
    };
    WebhookEndpointPage: {
      items: components['schemas']['WebhookEndpoint'][];
      page: number;
      per_page: number;
      total: number;
      total_pages: number;
      has_more: boolean;
      /** @enum {boolean} */
      total_exact?: false;
    };
    WebhookEndpointWithSecret: components['schemas']['WebhookEndpoint'] & {
      secret: string;
    };
    CreateWebhookEndpointRequest: {
      /** Format: uri */
      url: string;
      description?: string;
      event_types?: string[];
      product_ids?: string[];
      /** @enum {string} */
      signed_payload?: 'timestamp.body' | 'body';
    };
    UpdateWebhookEndpointRequest: {
      /** Format: uri */
      url?: string;
      description?: string | null;
      event_types?: string[];
      product_ids?: string[];
      /** @enum {string} */
      signed_payload?: 'timestamp.body' | 'body';
      /** @enum {string} */
      status?: 'enabled' | 'disabled';
    };
    RotateSecretRequest: {
      /** @default 24 */
      overlap_hours?: number;
    };
    WebhookTestResult: {
      delivery_id: number;
      event_id: string;
      succeeded: boolean;
      response_status?: number;
      response_ms?: number;
      error?: string;
    };
    TestWebhookRequest: {
      /** @enum {string} */
      event_type?: 'webhook.test';
    };
    WebhookRecovery: {
      scheduled: number;
    };
    RecoverWebhookRequest: {
      /** Format: date-time */
      since: string;
      /** Format: date-time */
      until?: string;
    };
    WebhookDeliveryPage: {
      items: components['schemas']['WebhookDelivery'][];
      page: number;
      per_page: number;
      total: number;
      total_pages: number;
      has_more: boolean;
      /** @enum {boolean} */
      total_exact?: false;
    };
    WebhookDelivery: {
      delivery_id: number;
      /** Format: uuid */
      endpoint_id: string;
      event_id: string;
      event_type: string;
      /** @enum {string} */
      status: 'pending' | 'retrying' | 'succeeded' | 'failed' | 'cancelled';
      attempt: number;
      max_attempts: number;
      response_status?: number;
      response_ms?: number;
      response_excerpt?: string;
      error?: string;
      next_attempt_at?: string | null;
      replay_of?: number;
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      completed_at?: string;
    };
    WebhookTimeline: {
      items: {
        /** Format: date-time */
        at: string;
        /** @enum {string} */
        kind: 'event' | 'delivery';
        type: string;
        event_id?: string;
        delivery_id?: number;
        status?: string;
      }[];
    };
    EventPage: {
      items: components['schemas']['Event'][];
      page: number;
      per_page: number;
      total: number;
      total_pages: number;
      has_more: boolean;
      /** @enum {boolean} */
      total_exact?: false;
    };
    IntegrationHealth: {
      /** @enum {string} */
      status: 'ok' | 'degraded';
      endpoints: {
        enabled: number;
        disabled: number;
        failing: number;
      };
      /** Format: date-time */
      last_delivery_at?: string;
      /** @description Absent where nothing was delivered or given up in a day. */
      success_rate_24h?: number;
      /** @description Absent where nothing waits. */
      oldest_pending_seconds?: number;
      hooks: number;
    };
    AutomationHookWithSecret: components['schemas']['AutomationHook'] & {
      secret: string;
    };
    AutomationHook: components['schemas']['WebhookEndpoint'] & {
      /**
       * Format: uuid
       * @description The endpoint_id again, where automation platforms look for it.
       */
      id: string;
    };
    SubscribeHookRequest: {
      target_url?: string;
      hookUrl?: string;
      event_type?: string;
      event?: string;
      product_ids?: string[];
    };
    ConsumeResponse: {
      /** @enum {boolean} */
      consumed: true;
      consumption_id: string;
      /** Format: uuid */
      entitlement_id: string;
      units: number;
      remaining: number | null;
      paid_through: string | null;
    };
    ConsumeRequest: {
      /** Format: uuid */
      product_id?: string;
      external_product_id?: string;
      customer: components['schemas']['Customer'];
      /** @default 1 */
      units?: number;
      /** @description What the customer asked for: goes into the challenge. */
      resource?: {
        /** Format: uri */
        url: string;
        description?: string;
        mime_type?: string;
      };
    };
    GrantRequest: {
      /** Format: uuid */
      product_id?: string;
      external_product_id?: string;
      customer: components['schemas']['Customer'];
      units?: number;
      days?: number;
      reason: string;
    };
    RefundResponse: {
      /** @enum {boolean} */
      refunded: true;
      consumption_id: string;
      /** Format: uuid */
      entitlement_id: string;
      units: number;
      remaining: number | null;
      paid_through: string | null;
    };
    RefundRequest: {
      consumption_id: string;
      reason: string;
    };
    EntitlementPage: {
      items: components['schemas']['Entitlement'][];
      page: number;
      per_page: number;
      total: number;
      total_pages: number;
      has_more: boolean;
      /** @enum {boolean} */
      total_exact?: false;
    };
    RailPage: {
      items: components['schemas']['Rail'][];
      page: number;
      per_page: number;
      total: number;
      total_pages: number;
      has_more: boolean;
      /** @enum {boolean} */
      total_exact?: false;
    };
    Rail: {
      /** @enum {string} */
      rail_id: 'solana_usdc' | 'solana_sol' | 'solana_usdc_subscription' | 'x402_solana_usdc' | 'mpp_solana_usdc';
      name: string;
      /** @enum {string} */
      kind: 'checkout' | 'subscription' | 'x402' | 'mpp';
      /** @enum {string} */
      asset: 'USDC' | 'SOL';
      network: string;
      mint?: string;
      decimals: number;
      /** @enum {string} */
      status: 'available' | 'degraded' | 'unavailable';
      reason?: string;
      supports: string[];
    };
    RailSettingPage: {
      items: components['schemas']['RailSetting'][];
      page: number;
      per_page: number;
      total: number;
      total_pages: number;
      has_more: boolean;
      /** @enum {boolean} */
      total_exact?: false;
    };
    RailSetting: {
      /** @enum {string} */
      rail_id: 'solana_usdc' | 'solana_sol' | 'solana_usdc_subscription' | 'x402_solana_usdc' | 'mpp_solana_usdc';
      enabled: boolean;
      /** @description Where the rail pays out; absent: to the wallet of the account. */
      payout_wallet?: string;
      /** @description USDC account of the wallet that the money goes to; SOL goes to the wallet itself. */
      payout_ata?: string;
      /** @description Absent where there is no wallet yet, where none is needed, where the node does not answer, and in the sandbox, which never asks it. */
      ata_exists?: boolean;
      /** @description Unsigned, base64: creates the missing account. Sign it with the payout wallet and send it. */
      create_ata_transaction?: string;
      /**
       * Format: date-time
       * @description Absent until the merchant sets something.
       */
      updated_at?: string;
    };
    RailSettingUpdate: {
      enabled?: boolean;
      payout_wallet?: string | null;
    };
    AccessApp: {
      /** Format: uuid */
      access_app_id: string;
      name: string;
      homepage_url?: string;
      /** Format: date-time */
      created_at: string;
    };
    CreateAppRequest: {
      name: string;
      /** Format: uri */
      homepage_url?: string;
    };
    Readiness: {
      /** @description A sale by payment session and by x402 would work this moment, over every rail the product is offered on. */
      ready: boolean;
      /** @enum {string} */
      mode: 'live' | 'sandbox';
      /** Format: uuid */
      access_app_id?: string;
      /** Format: uuid */
      product_id?: string;
      checks: components['schemas']['ReadinessCheck'][];
      /** @description Codes of the checks that fail: each of them stops a sale. */
      blocking: string[];
      /** Format: date-time */
      checked_at: string;
    };
    ReadinessCheck: {
      /** @enum {string} */
      code:
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
      /** @enum {string} */
      status: 'pass' | 'fail' | 'warn' | 'skip';
      message: string;
      fix?: components['schemas']['Fix'];
      docs_url: string;
    };
    /** @description What to do: a call, with values of yours in the place of <…>, or a transaction. With neither only the operator can do it. */
    Fix: {
      detail: string;
      /** @enum {string} */
      method?: 'GET' | 'POST' | 'PUT' | 'PATCH';
      path?: string;
      body?: {
        [key: string]: unknown;
      };
      /** @description Unsigned, base64: sign it with the payout wallet and send it. */
      transaction?: string;
    };
    ProductRailPage: {
      items: components['schemas']['ProductRail'][];
      page: number;
      per_page: number;
      total: number;
      total_pages: number;
      has_more: boolean;
      /** @enum {boolean} */
      total_exact?: false;
    };
    ProductRail: components['schemas']['Rail'] & {
      /** @description Of the service (GET /v1/access/rails), or what stops the sale, in the words of setup_not_ready; readiness has a check for each. */
      reason?: string;
      fix?: components['schemas']['Fix'];
    };
    PaymentSession: {
      /** Format: uuid */
      payment_session_id: string;
      /** Format: uuid */
      payment_id?: string;
      /** @enum {string} */
      status: 'open' | 'pending_confirmation' | 'completed' | 'failed' | 'expired';
      /** @description Send the buyer here. */
      checkout_url: string;
      /** Format: uuid */
      product_id: string;
      price: components['schemas']['Money'];
      /** Format: date-time */
      expires_at: string;
      /** Format: date-time */
      created_at: string;
    };
    PaymentSessionRequest: {
      /** Format: uuid */
      product_id?: string;
      external_product_id?: string;
      /** @description Your own name for the buyer; keys membership and entitlement. */
      customer_ref?: string;
      /**
       * @description A rail of the hosted checkout, which has to be ready for this product, and is what connect begins with unless it names another asset; by default what a checkout of the product begins with: its default_rail if that can be paid over, else another that can.
       * @enum {string}
       */
      rail_id?: 'solana_usdc' | 'solana_sol' | 'solana_usdc_subscription' | 'x402_solana_usdc' | 'mpp_solana_usdc';
      /** Format: uri */
      success_url?: string;
      /** @default {} */
      metadata?: {
        [key: string]: string;
      };
    };
    SettleResponse: {
      /** @enum {boolean} */
      success: true;
      /**
       * @description Another request was told of this success: serve nothing for this one.
       * @enum {boolean}
       */
      duplicate?: true;
      /** Format: uuid */
      payment_id: string;
      /** Format: uuid */
      receipt_id: string;
      tx_signature: string;
      network: string;
      payer: string;
      amount: components['schemas']['Money'];
      /** Format: uuid */
      entitlement_id: string;
      granted_units: number | null;
      consumed_units: number;
      /** @description Refund it where the request could not be served. */
      consumption_id?: string;
      remaining: number | null;
      /** @description Send it to the buyer as the PAYMENT-RESPONSE header. */
      payment_response: string;
    };
    SettlePending: {
      /** @enum {boolean} */
      success: false;
      /** @enum {string} */
      error_reason: 'settlement_pending';
      tx_signature: string;
      retry_after: number;
    };
    SettleRequest: {
      /** Format: uuid */
      product_id?: string;
      external_product_id?: string;
      /** @description Value of the buyer’s PAYMENT-SIGNATURE header, as it came. */
      payment_signature: string;
      customer?: components['schemas']['Customer'];
      /**
       * @description Used in the same step.
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
      /** Format: uuid */
      account_id: string;
      /** Format: uuid */
      receipt_id: string;
    };
    FacilitatorSupported: {
      kinds: {
        x402Version: number;
        scheme: string;
        network: string;
        extra?: {
          [key: string]: unknown;
        };
      }[];
      extensions: string[];
      signers: {
        [key: string]: string[];
      };
    };
    FacilitatorVerification: {
      isValid: boolean;
      invalidReason?: string;
      invalidMessage?: string;
      payer?: string;
      extensions?: {
        [key: string]: unknown;
      };
      extra?: {
        [key: string]: unknown;
      };
    };
    /** @description The body the reference client of a facilitator sends. */
    FacilitatorRequest: {
      x402Version: number;
      paymentPayload: {
        [key: string]: unknown;
      };
      paymentRequirements: {
        [key: string]: unknown;
      };
    } & {
      [key: string]: unknown;
    };
    FacilitatorSettlement: {
      success: boolean;
      errorReason?: string;
      errorMessage?: string;
      payer?: string;
      transaction: string;
      network: string;
      amount?: string;
      extensions?: {
        [key: string]: unknown;
      };
      extra?: {
        [key: string]: unknown;
      };
    };
    CreatedSetupIntent: components['schemas']['SetupIntent'] & {
      /** @description Shown once, here. It opens this setup and pays for its plan. */
      setup_secret: string;
      /** @description Shown once, here. */
      sandbox_api_key: string;
    };
    SetupManifest: {
      /** @enum {string} */
      manifest_version: '1';
      name: string;
      description?: string;
      /** @description A public https URL. It is never fetched. */
      homepage_url?: string;
      contact_email?: string;
      /** @default [] */
      resources?: {
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
      /** @default [] */
      products?: {
        external_product_id?: string;
        name: string;
        description?: string;
        price: {
          asset: string;
          amount: string;
        };
        usage_units?: number;
        access_period_days?: number;
      }[];
      payout?: {
        rail_id: string;
        wallet_address: string;
      };
      /** @default [] */
      webhooks?: {
        /** @description A public https URL. It is never fetched. */
        url: string;
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
        per_payment?: {
          asset: string;
          amount: string;
        };
        per_day?: {
          asset: string;
          amount: string;
        };
      };
      /** @default false */
      live_requested?: boolean;
    };
    SetupEvaluation: {
      /** @description 0 to 100. */
      score: number;
      findings: {
        /**
         * @description A manifest with an error is sent back for changes.
         * @enum {string}
         */
        severity: 'error' | 'warning' | 'info';
        code: string;
        /** @description Where it stands in the manifest. */
        path: string;
        message: string;
        suggestion: string;
      }[];
    };
    NextAction: {
      action: string;
      /** @enum {string} */
      method: 'GET' | 'POST' | 'PUT';
      path: string;
      description: string;
      headers?: {
        [key: string]: string;
      };
      body?: {
        [key: string]: unknown;
      };
    };
    SetupIntent: {
      /** Format: uuid */
      setup_intent_id: string;
      /** @enum {string} */
      status: 'created' | 'changes_required' | 'ready' | 'approved' | 'expired';
      agent_name: string;
      operator_contact?: string;
      intended_use?: string;
      /** Format: uuid */
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
      /** Format: date-time */
      plan_paid_through?: string;
      /** Format: uuid */
      sandbox_key_id: string;
      /**
       * Format: uuid
       * @description The live key this setup issued last.
       */
      live_key_id?: string;
      live_key_active: boolean;
      /** @description Bind what is paid with the setup secret. */
      spend_limits: {
        per_payment?: components['schemas']['Money'];
        per_day?: components['schemas']['Money'];
      };
      manifest?: components['schemas']['SetupManifest'];
      evaluation?: components['schemas']['SetupEvaluation'];
      /** Format: date-time */
      approved_at?: string;
      /**
       * Format: date-time
       * @description Absent once a plan was activated: then it stays.
       */
      expires_at?: string;
      /** @description Paid, and not decided by the chain yet. Until it is, the setup does not end: never pay again. */
      pending_payments?: {
        /** @enum {string} */
        plan?: 'free' | 'starter' | 'growth' | 'scale';
        amount: components['schemas']['Money'];
        tx_signature: string;
        /** Format: date-time */
        created_at: string;
      }[];
      /** @description What to do now, in this order. */
      next_actions: components['schemas']['NextAction'][];
      /** Format: date-time */
      created_at: string;
      /** Format: date-time */
      updated_at: string;
    };
    CreateSetupIntentRequest: {
      agent_name: string;
      operator_contact?: string;
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
      /** @enum {string} */
      manifest_version: '1';
      name: string;
      description?: string;
      /** @description A public https URL. It is never fetched. */
      homepage_url?: string;
      contact_email?: string;
      /** @default [] */
      resources?: {
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
      /** @default [] */
      products?: {
        external_product_id?: string;
        name: string;
        description?: string;
        price: {
          asset: string;
          amount: string;
        };
        usage_units?: number;
        access_period_days?: number;
      }[];
      payout?: {
        rail_id: string;
        wallet_address: string;
      };
      /** @default [] */
      webhooks?: {
        /** @description A public https URL. It is never fetched. */
        url: string;
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
        per_payment?: {
          asset: string;
          amount: string;
        };
        per_day?: {
          asset: string;
          amount: string;
        };
      };
      /** @default false */
      live_requested?: boolean;
    };
    ApprovedSetupIntent: components['schemas']['SetupIntent'] & {
      /** @description Shown once, in the answer that issued it. */
      live_api_key?: string;
    };
    ApproveSetupIntentRequest: {
      /** @description As it was shown when the setup was created. */
      setup_secret: string;
      /** @default false */
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
      items: {
        scenario: string;
        description: string;
        options: string[];
        expected: string[];
      }[];
    };
    SandboxSession: {
      /** Format: uuid */
      session_id: string;
      scenario: string;
      /** @enum {string} */
      status: 'running' | 'completed' | 'failed';
      /** @enum {boolean} */
      livemode: false;
      seed: string;
      /** @description Stands still between moves. */
      clock: {
        /** Format: date-time */
        now: string;
        advanced_seconds: number;
      };
      objects: {
        type: string;
        id: string;
      }[];
      steps: {
        /** Format: date-time */
        at: string;
        action: string;
        object?: {
          type: string;
          id: string;
        };
        state?: string;
        event_id?: string;
        event_type?: string;
      }[];
      deliveries: {
        sent: number;
        succeeded: number;
        failed: number;
      };
      /** Format: date-time */
      created_at: string;
    };
    SandboxSessionRequest: {
      /** @description One of GET /v1/testing/scenarios. */
      scenario: string;
      /** @description The same seed makes the same wallets, and the same steps. */
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
      /** @default {} */
      options?: {
        amount?: {
          /** @enum {string} */
          asset: 'USDC' | 'SOL';
          amount: string;
          base_units?: string;
        };
        delay_seconds?: number;
        /** @enum {string} */
        failure?: 'transaction_failed' | 'session_expired';
      };
    };
    SandboxSessions: {
      items: components['schemas']['SandboxSession'][];
    };
    AdvanceRequest: {
      seconds: number;
    };
    TestPayment: {
      tx_signature?: string;
      payment_signature?: string;
      transaction?: string;
      payer_wallet: string;
    };
    TestPaymentRequest: {
      /** Format: uuid */
      payment_id?: string;
      /** @description A challenge of x402: the value of PAYMENT-REQUIRED, or the object in it. */
      payment_required?:
        | string
        | {
            [key: string]: unknown;
          };
      /** @description Signed as the merchant’s test wallet, and not sent. */
      transaction?: string;
      /**
       * @default paid
       * @enum {string}
       */
      outcome?: 'paid' | 'underpaid' | 'declined' | 'late' | 'overpaid';
      /** @description A name for a test wallet that lasts; without one it is another each time. */
      wallet?: string;
    };
    CompletedTestIdentity: {
      /** Format: uuid */
      identity_session_id: string;
      /** @enum {string} */
      provider: 'telegram' | 'discord';
      provider_user_id: string;
      /** @enum {string} */
      status: 'completed';
    };
    TestIdentity: {
      /** Format: uuid */
      identity_session_id: string;
      provider_user_id: string;
      username?: string;
    };
    EventType: {
      /** @enum {string} */
      type:
        | 'payment.created'
        | 'payment.submitted'
        | 'payment.confirmed'
        | 'payment.finalized'
        | 'payment.failed'
        | 'payment.unmatched'
        | 'payment.orphaned'
        | 'receipt.created'
        | 'membership.activated'
        | 'membership.renewed'
        | 'membership.grace_started'
        | 'membership.expired'
        | 'membership.access_revoked'
        | 'entitlement.granted'
        | 'entitlement.exhausted'
        | 'entitlement.expired'
        | 'payout.changed'
        | 'webhook.test'
        | 'webhook.endpoint_failing'
        | 'webhook.endpoint_disabled';
      description: string;
      schema: {
        [key: string]: unknown;
      };
      example: {
        [key: string]: unknown;
      };
    };
    ReceiptKeySet: {
      keys: {
        /** @enum {string} */
        kty: 'OKP';
        /** @enum {string} */
        crv: 'Ed25519';
        x: string;
        kid: string;
        /** @enum {string} */
        use: 'sig';
        /** @enum {string} */
        alg: 'EdDSA';
      }[];
    };
    HealthResponse: {
      /** @enum {string} */
      status: 'ok' | 'degraded';
      version: string;
      /** Format: date-time */
      time: string;
      checks: {
        /** @enum {string} */
        database: 'ok' | 'failing' | 'not_configured';
        /** @enum {string} */
        queue: 'ok' | 'failing' | 'not_configured';
        /** @enum {string} */
        rpc: 'ok' | 'failing' | 'not_configured';
        /** @enum {string} */
        price_source: 'ok' | 'failing' | 'not_configured';
        /** @enum {string} */
        processor: 'ok' | 'failing' | 'not_configured';
        /**
         * @description failing: every other route answers 503 `misconfigured`.
         * @enum {string}
         */
        configuration: 'ok' | 'failing' | 'not_configured';
        /**
         * @description failing: more left it within the last hour than the operator expects.
         * @enum {string}
         */
        fee_payer: 'ok' | 'failing' | 'not_configured';
      };
      /** @description How full the database is, from 0 to 1; from 0.7 on the status is degraded. null where it does not answer. */
      database_used: number | null;
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
        /** @description Names this request: sent again, it has no second effect. */
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
        /** @description Names this request: sent again, it has no second effect. */
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
        /** @description Names this request: sent again, it has no second effect. */
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
        /** @description Names this request: sent again, it has no second effect. */
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
        /** @description Names this request: sent again, it has no second effect. */
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
  revokeKey: {
    parameters: {
      query?: never;
      header?: {
        /** @description Names this request: sent again, it has no second effect. */
        'Idempotency-Key'?: string;
      };
      path: {
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
        page?: number;
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
        /** @description Names this request: sent again, it has no second effect. */
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
          'application/json': components['schemas']['Product'];
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
        /** @description Names this request: sent again, it has no second effect. */
        'Idempotency-Key'?: string;
      };
      path: {
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
        /** @description Names this request: sent again, it has no second effect. */
        'Idempotency-Key'?: string;
      };
      path: {
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
        /** @description Names this request: sent again, it has no second effect. */
        'Idempotency-Key'?: string;
      };
      path: {
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
        /** @description Names this request: sent again, it has no second effect. */
        'Idempotency-Key'?: string;
      };
      path: {
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
        /** @description Names this request: sent again, it has no second effect. */
        'Idempotency-Key'?: string;
      };
      path: {
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
        /** @description Names this request: sent again, it has no second effect. */
        'Idempotency-Key'?: string;
      };
      path: {
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
        slug: string;
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
        /** @description Names this request: sent again, it has no second effect. */
        'Idempotency-Key'?: string;
      };
      path: {
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
        /** @description Names this request: sent again, it has no second effect. */
        'Idempotency-Key'?: string;
      };
      path: {
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
        page?: number;
        per_page?: number;
        status?: 'PENDING_SIGNATURE' | 'PENDING_CONFIRMATION' | 'CONFIRMED' | 'FAILED';
        product_id?: string;
        customer_ref?: string;
        /** @description The wallet that paid. */
        wallet?: string;
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
        /** @description Names this request: sent again, it has no second effect. */
        'Idempotency-Key'?: string;
      };
      path: {
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
        /** @description Names this request: sent again, it has no second effect. */
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
  getPayment: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: never;
      path: {
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
          'application/json': components['schemas']['Payment'];
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
        /** @description Names this request: sent again, it has no second effect. */
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
        wallet_address?: string;
        customer_ref?: string;
        email?: string;
        payment_id?: string;
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
        page?: number;
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
          'application/json': components['schemas']['MembershipPage'];
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
        page?: number;
        per_page?: number;
        wallet?: string;
        /** @description The beginning of a transaction (12 characters or more) or receipt id (13 or more), or words of the product name. */
        q?: string;
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
  listWebhookEndpoints: {
    parameters: {
      query?: {
        page?: number;
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
        /** @description Names this request: sent again, it has no second effect. */
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
        /** @description Names this request: sent again, it has no second effect. */
        'Idempotency-Key'?: string;
      };
      path: {
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
        /** @description Names this request: sent again, it has no second effect. */
        'Idempotency-Key'?: string;
      };
      path: {
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
        /** @description Names this request: sent again, it has no second effect. */
        'Idempotency-Key'?: string;
      };
      path: {
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
  testWebhookEndpoint: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Names this request: sent again, it has no second effect. */
        'Idempotency-Key'?: string;
      };
      path: {
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
  recoverWebhookEndpoint: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header?: {
        /** @description Names this request: sent again, it has no second effect. */
        'Idempotency-Key'?: string;
      };
      path: {
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
        page?: number;
        per_page?: number;
        endpoint_id?: string;
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
        /** @description Names this request: sent again, it has no second effect. */
        'Idempotency-Key'?: string;
      };
      path: {
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
        payment_id?: string;
        membership_id?: string;
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
        page?: number;
        per_page?: number;
        event_type?:
          | 'payment.created'
          | 'payment.submitted'
          | 'payment.confirmed'
          | 'payment.finalized'
          | 'payment.failed'
          | 'payment.unmatched'
          | 'payment.orphaned'
          | 'receipt.created'
          | 'membership.activated'
          | 'membership.renewed'
          | 'membership.grace_started'
          | 'membership.expired'
          | 'membership.access_revoked'
          | 'entitlement.granted'
          | 'entitlement.exhausted'
          | 'entitlement.expired'
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
        page?: number;
        per_page?: number;
        limit?: number;
        event_type?:
          | 'payment.created'
          | 'payment.submitted'
          | 'payment.confirmed'
          | 'payment.finalized'
          | 'payment.failed'
          | 'payment.unmatched'
          | 'payment.orphaned'
          | 'receipt.created'
          | 'membership.activated'
          | 'membership.renewed'
          | 'membership.grace_started'
          | 'membership.expired'
          | 'membership.access_revoked'
          | 'entitlement.granted'
          | 'entitlement.exhausted'
          | 'entitlement.expired'
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
        /** @description Names this request: sent again, it has no second effect. */
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
        /** @description Names this request: sent again, it has no second effect. */
        'Idempotency-Key'?: string;
      };
      path: {
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
  consumeEntitlement: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header: {
        /** @description Names this request: sent again, it has no second effect. */
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
        /** @description Names this request: sent again, it has no second effect. */
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
        /** @description Names this request: sent again, it has no second effect. */
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
        page?: number;
        per_page?: number;
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
        product_id?: string;
        external_product_id?: string;
        wallet_address?: string;
        customer_ref?: string;
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
        /** @description Names this request: sent again, it has no second effect. */
        'Idempotency-Key': string;
      };
      path: {
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
        /** @description Names this request: sent again, it has no second effect. */
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
        /** @description Names this request: sent again, it has no second effect. */
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
          'application/json': components['schemas']['Product'];
        };
      };
    };
  };
  getReadiness: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
        product_id?: string;
        external_product_id?: string;
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
        product_id?: string;
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
  createPaymentSession: {
    parameters: {
      query?: {
        /** @description The mode a token acts in; default live. */
        mode?: 'live' | 'sandbox';
      };
      header: {
        /** @description Names this request: sent again, it has no second effect. */
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
        /** @description Names this request: sent again, it has no second effect. */
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
        /** @description Names this request: sent again, it has no second effect. */
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
        /** @description Names this request: sent again, it has no second effect. */
        'Idempotency-Key'?: string;
      };
      path: {
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
        /** @description Names this request: sent again, it has no second effect. */
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
        /** @description Names this request: sent again, it has no second effect. */
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
