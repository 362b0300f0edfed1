import { authRoutes } from '#features/accounts/auth/routes.ts';
import { keyRoutes } from '#features/accounts/keys/routes.ts';
import { operatorRoutes } from '#features/accounts/operator/routes.ts';
import { accountRoutes } from '#features/accounts/routes.ts';
import { bootstrapRoutes } from '#features/agent-setup/routes.ts';
import { activationRoutes } from '#features/billing/activation/routes.ts';
import { identityRoutes } from '#features/checkout/buyer-identity/routes.ts';
import { handoffRoutes } from '#features/checkout/handoffs/routes.ts';
import { checkoutRoutes } from '#features/checkout/routes.ts';
import { sendRoutes } from '#features/checkout/send.routes.ts';
import { paymentSessionRoutes } from '#features/checkout/sessions/routes.ts';
import { entitlementRoutes } from '#features/entitlements/routes.ts';
import { facilitatorRoutes } from '#features/facilitator/routes.ts';
import { membershipRoutes } from '#features/memberships/routes.ts';
import { consumeRoutes } from '#features/pay-per-request/consume.routes.ts';
import { x402Routes } from '#features/pay-per-request/routes.ts';
import { merchantPaymentRoutes } from '#features/payments/merchant.routes.ts';
import { paymentRoutes } from '#features/payments/routes.ts';
import { chainWebhookRoutes } from '#features/payments/watch/routes.ts';
import { accessProductRoutes } from '#features/products/access.routes.ts';
import { productRoutes } from '#features/products/routes.ts';
import { productRailRoutes } from '#features/rails/product.routes.ts';
import { railRoutes } from '#features/rails/routes.ts';
import { switchRoutes } from '#features/rails/switches/routes.ts';
import { readinessRoutes } from '#features/readiness/routes.ts';
import { receiptKeyRoutes, receiptRoutes } from '#features/receipts/routes.ts';
import { sandboxRoutes } from '#features/sandbox/routes.ts';
import { integrationRoutes } from '#features/webhooks/automation/routes.ts';
import { deliveryRoutes } from '#features/webhooks/deliveries/routes.ts';
import { webhookRoutes } from '#features/webhooks/endpoints/routes.ts';

/** What is served under /v1, in the order of the document's tags. */
export const versionedRouters = [
  authRoutes,
  accountRoutes,
  keyRoutes,
  productRoutes,
  checkoutRoutes,
  sendRoutes,
  handoffRoutes,
  identityRoutes,
  merchantPaymentRoutes,
  paymentRoutes,
  chainWebhookRoutes,
  membershipRoutes,
  receiptRoutes,
  webhookRoutes,
  deliveryRoutes,
  integrationRoutes,
  consumeRoutes,
  entitlementRoutes,
  railRoutes,
  accessProductRoutes,
  readinessRoutes,
  productRailRoutes,
  paymentSessionRoutes,
  x402Routes,
  activationRoutes,
  facilitatorRoutes,
  bootstrapRoutes,
  sandboxRoutes,
];

/** What names its whole path itself. */
export const rootRouters = [operatorRoutes, switchRoutes, receiptKeyRoutes];
