import { emailRoutes } from '#features/accounts/auth/email.routes.ts';
import { authRoutes } from '#features/accounts/auth/routes.ts';
import { sessionRoutes } from '#features/accounts/auth/session.routes.ts';
import { domainRoutes } from '#features/accounts/domain/routes.ts';
import { factorRoutes, factorSignInRoutes } from '#features/accounts/factors/routes.ts';
import { keyRoutes } from '#features/accounts/keys/routes.ts';
import { actingRoutes, memberRoutes } from '#features/accounts/members/routes.ts';
import { oauthRoutes } from '#features/accounts/oauth/routes.ts';
import { operatorRoutes } from '#features/accounts/operator/routes.ts';
import { accountRoutes } from '#features/accounts/routes.ts';
import { bootstrapRoutes } from '#features/agent-setup/routes.ts';
import { analyticsRoutes } from '#features/analytics/routes.ts';
import { auditLogRoutes } from '#features/audit-log/routes.ts';
import { activationRoutes } from '#features/billing/activation/routes.ts';
import { billingRoutes } from '#features/billing/processor/routes.ts';
import { ownDataRoutes } from '#features/buyers/own-data.routes.ts';
import { portalRoutes } from '#features/buyers/portal.routes.ts';
import { buyerRoutes } from '#features/buyers/routes.ts';
import { listingRoutes } from '#features/catalogue/listings.routes.ts';
import { catalogueRoutes } from '#features/catalogue/routes.ts';
import { identityRoutes } from '#features/checkout/buyer-identity/routes.ts';
import { handoffRoutes } from '#features/checkout/handoffs/routes.ts';
import { paymentRoutes } from '#features/checkout/payment.routes.ts';
import { checkoutRoutes } from '#features/checkout/routes.ts';
import { sendRoutes } from '#features/checkout/send.routes.ts';
import { paymentSessionRoutes } from '#features/checkout/sessions/routes.ts';
import { communityRoutes } from '#features/connected-chats/routes.ts';
import { customerRoutes } from '#features/customers/routes.ts';
import { bounceOperatorRoutes, mailRoutes } from '#features/email-delivery/routes.ts';
import { grantRoutes } from '#features/entitlements/grant.routes.ts';
import { entitlementRoutes } from '#features/entitlements/routes.ts';
import { facilitatorRoutes } from '#features/facilitator/routes.ts';
import { placementRoutes } from '#features/membership-delivery/routes.ts';
import { membershipRoutes } from '#features/memberships/routes.ts';
import { announcedDeliveryRoutes, meteredSessionRoutes } from '#features/metered/buyer/routes.ts';
import { meteredRoutes } from '#features/metered/routes.ts';
import { auditLogOperatorRoutes } from '#features/operator/audit-log.routes.ts';
import { partitionRoutes } from '#features/operator/partitions/routes.ts';
import { operationRoutes } from '#features/operator/routes.ts';
import { consumeRoutes } from '#features/pay-per-request/consume.routes.ts';
import { x402Routes } from '#features/pay-per-request/routes.ts';
import { merchantPaymentRoutes } from '#features/payments/merchant.routes.ts';
import { refundRoutes } from '#features/payments/refunds/routes.ts';
import { chainWebhookRoutes } from '#features/payments/watch/routes.ts';
import { buyerPrivacyRoutes, customerPrivacyRoutes } from '#features/privacy/routes.ts';
import { accessProductRoutes } from '#features/products/access.routes.ts';
import { productRoutes } from '#features/products/routes.ts';
import { productRailRoutes } from '#features/rails/product.routes.ts';
import { railRoutes } from '#features/rails/routes.ts';
import { subscriptionPlanRoutes } from '#features/rails/subscription-plan/routes.ts';
import { switchRoutes } from '#features/rails/switches/routes.ts';
import { readinessRoutes } from '#features/readiness/routes.ts';
import { pdfRoutes } from '#features/receipts/pdf/routes.ts';
import { receiptKeyRoutes, receiptRoutes } from '#features/receipts/routes.ts';
import { pageWalletRoutes } from '#features/sandbox/page-wallet.routes.ts';
import { sandboxRoutes } from '#features/sandbox/routes.ts';
import { searchRoutes } from '#features/search/routes.ts';
import { cancellationRoutes, subscriptionRoutes } from '#features/subscriptions/routes.ts';
import { supportRoutes } from '#features/support/routes.ts';
import { integrationRoutes } from '#features/webhooks/automation/routes.ts';
import { deliveryRoutes } from '#features/webhooks/deliveries/routes.ts';
import { keyResourceRoutes } from '#features/webhooks/endpoints/key.routes.ts';
import { webhookRoutes } from '#features/webhooks/endpoints/routes.ts';
import { invitationRoutes, invitedRoutes } from './accounts/members/invitation.routes.ts';
import { acceptTransferRoutes, transferRoutes } from './accounts/members/transfer.routes.ts';
import { notMeRoutes } from './accounts/not-me/routes.ts';
import { payoutRoutes } from './accounts/payouts/routes.ts';

/** Routers under /v1, in the order of the API document's tags. */
export const versionedRouters = [
  authRoutes,
  sessionRoutes,
  actingRoutes,
  memberRoutes,
  transferRoutes,
  acceptTransferRoutes,
  invitationRoutes,
  invitedRoutes,
  notMeRoutes,
  payoutRoutes,
  factorSignInRoutes,
  emailRoutes,
  oauthRoutes,
  accountRoutes,
  factorRoutes,
  domainRoutes,
  communityRoutes,
  analyticsRoutes,
  keyRoutes,
  keyResourceRoutes,
  productRoutes,
  checkoutRoutes,
  sendRoutes,
  handoffRoutes,
  identityRoutes,
  merchantPaymentRoutes,
  refundRoutes,
  paymentRoutes,
  chainWebhookRoutes,
  membershipRoutes,
  placementRoutes,
  customerRoutes,
  customerPrivacyRoutes,
  portalRoutes,
  buyerRoutes,
  buyerPrivacyRoutes,
  ownDataRoutes,
  receiptRoutes,
  pdfRoutes,
  webhookRoutes,
  deliveryRoutes,
  integrationRoutes,
  mailRoutes,
  supportRoutes,
  auditLogRoutes,
  searchRoutes,
  consumeRoutes,
  grantRoutes,
  entitlementRoutes,
  railRoutes,
  accessProductRoutes,
  readinessRoutes,
  productRailRoutes,
  subscriptionPlanRoutes,
  paymentSessionRoutes,
  x402Routes,
  activationRoutes,
  billingRoutes,
  facilitatorRoutes,
  catalogueRoutes,
  listingRoutes,
  meteredRoutes,
  meteredSessionRoutes,
  subscriptionRoutes,
  cancellationRoutes,
  bootstrapRoutes,
  sandboxRoutes,
];

export const rootRouters = [
  operatorRoutes,
  bounceOperatorRoutes,
  operationRoutes,
  partitionRoutes,
  switchRoutes,
  auditLogOperatorRoutes,
  receiptKeyRoutes,
  pageWalletRoutes,
  announcedDeliveryRoutes,
];
