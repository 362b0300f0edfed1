import { type Document, nameIn, type Schema } from './document.ts';
import { docOf, type Types } from './schemas.ts';

interface EventEntry {
  type: string;
  name: string;
  schema: Schema;
}

/** `payment.confirmed`: `PaymentConfirmedEvent`. */
const eventName = (type: string): string =>
  `${type
    .split(/[._]/)
    .map((word) => word[0]!.toUpperCase() + word.slice(1))
    .join('')}Event`;

export function eventsOf({ webhooks = {}, components }: Document): EventEntry[] {
  return Object.entries(webhooks).map(([type, { post }]) => {
    const schema = post.requestBody.content['application/json']?.schema;
    if (!schema) throw new Error(`The event ${type} has no JSON schema`);
    const name = schema.$ref ? nameIn(schema.$ref) : eventName(type);
    return { type, name, schema: { ...(schema.$ref ? components.schemas[name] : schema), description: post.description ?? '' } };
  });
}

/** Writes `events.ts` without its imports: an interface per event, and their union. */
export function eventsText(events: EventEntry[], types: Types): string {
  const interfaces = events.map(({ name, schema }) => types.declare(name, schema));
  const each = (text: (event: EventEntry) => string) => events.map(text).join('\n');
  return `${interfaces.join('\n')}
/** Event of a type that this version knows. Narrow it by \`type\`. */
export type SvcEvent =
${each(({ name }) => `| ${name}`)};

export type EventType =
${each(({ type }) => `| '${type}'`)};

/** Event of one type: \`EventOf<'payment.confirmed'>\`. */
export type EventOf<T extends EventType> = Extract<SvcEvent, { type: T }>;

/** Event types that this version knows. The service may send others. */
export const KNOWN_EVENTS: readonly EventType[] = [
${each(({ type }) => `'${type}',`)}
];
`;
}

/** Writes \`error-codes.ts\`. */
export function errorCodesText(document: Document): string {
  const codes = Object.entries(document['x-error-codes']);
  const list = codes.map(([code, { status, message }]) => `${docOf(`${status}: ${message}`)}| '${code}'`);
  return `/** Codes of the service's errors. */
export type ErrorCode =
${list.join('\n')};
`;
}
