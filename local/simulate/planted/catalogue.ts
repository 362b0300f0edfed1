import { ACCESS_FAULTS } from './access.ts';
import { DELIVERY_FAULTS } from './delivery.ts';
import { PAYMENT_FAULTS } from './payments.ts';
import type { PlantedFault } from './planted-fault.ts';
import { TENANT_FAULTS } from './tenants.ts';

export const PLANTED_FAULTS: readonly PlantedFault[] = [...PAYMENT_FAULTS, ...ACCESS_FAULTS, ...DELIVERY_FAULTS, ...TENANT_FAULTS];
