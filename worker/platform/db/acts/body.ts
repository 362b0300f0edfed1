import type { ActEvent } from '../tables/events.ts';
import { squeeze, unsqueeze } from '../tables/squeezed/squeeze.ts';

/** Squeezes the events of an act into a body. */
export const encodeBody = (events: readonly ActEvent[]): Uint8Array => squeeze(JSON.stringify(events));

/** Reads the events of a body. Throws if its dictionary is unknown or its bytes are damaged. */
export const decodeBody = (body: Uint8Array): ActEvent[] => JSON.parse(unsqueeze(body)) as ActEvent[];
