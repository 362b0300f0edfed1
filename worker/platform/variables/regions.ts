/** Regions in which the platform creates a database, and objects near it. */
export const REGIONS = ['wnam', 'enam', 'weur', 'eeur', 'apac', 'oc'] as const;
export type Region = (typeof REGIONS)[number];

/** Longitudes that divide North America and Europe into west and east. */
const WEST_OF = { america: -100, europe: 15 };

/** Location of a caller, as the platform reports it. */
export interface Location {
  continent?: string | undefined;
  longitude?: string | undefined;
}

/** Region with the shortest way to a caller. Null: the platform does not know where the caller is. */
export function regionNear({ continent, longitude }: Location): Region | null {
  const east = longitude === undefined || longitude === '' ? Number.NaN : Number(longitude);
  switch (continent) {
    case 'NA':
      return east < WEST_OF.america ? 'wnam' : 'enam';
    case 'SA':
      return 'enam';
    case 'EU':
      return east >= WEST_OF.europe ? 'eeur' : 'weur';
    case 'AF':
      return 'weur';
    case 'AS':
      return 'apac';
    case 'OC':
    case 'AN':
      return 'oc';
    default:
      return null;
  }
}
