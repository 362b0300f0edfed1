import { ACCESS_FAULTS } from './access.ts';
import { DELIVERY_FAULTS } from './delivery.ts';
import { PAYMENT_FAULTS } from './payments.ts';
import type { PlantedFault } from './planted-fault.ts';
import { SEVERE_FAULTS } from './severe.ts';
import { TENANT_FAULTS } from './tenants.ts';

export const PLANTED_FAULTS: readonly PlantedFault[] = [
  ...SEVERE_FAULTS,
  ...PAYMENT_FAULTS,
  ...ACCESS_FAULTS,
  ...DELIVERY_FAULTS,
  ...TENANT_FAULTS,
];
