export type { EventOf, EventType, SvcEvent } from './generated/events.ts';
export { isKnownEvent, type VerifyWebhookOptions, verifyWebhook, type WebhookHeaders } from './verify/webhook.ts';
