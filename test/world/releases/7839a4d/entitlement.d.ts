/** What that release answered to. Its later verbs it does not have. */
export { Entitlement } from '../../../../durable-objects/entitlement.ts';
