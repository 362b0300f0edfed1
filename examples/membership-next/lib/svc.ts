import { createClient } from '@paylatch/sdk';

export const PRODUCT = process.env.SVC_PRODUCT!;
export const client = createClient({ baseUrl: process.env.SVC_BASE_URL!, key: process.env.SVC_API_KEY! });
