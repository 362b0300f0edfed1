import type { Case } from '../platform.ts';
import { D1_CASES } from './d1.ts';
import { D1_LIMIT_CASES } from './d1-limits.ts';
import { OBJECT_CASES } from './objects.ts';
import { BUCKET_CASES, QUEUE_CASES } from './queues.ts';

export const CASES: Record<string, Case> = { ...D1_CASES, ...D1_LIMIT_CASES, ...OBJECT_CASES, ...QUEUE_CASES, ...BUCKET_CASES };
