import { describe, expect, it } from 'vitest';
import { regionNear } from '#platform/variables/regions.ts';

describe('regionNear', () => {
  it.each([
    ['NA', '-122.4', 'wnam'],
    ['NA', '-77.0', 'enam'],
    ['NA', undefined, 'enam'],
    ['SA', '-46.6', 'enam'],
    ['EU', '2.3', 'weur'],
    ['EU', '21.0', 'eeur'],
    ['EU', '', 'weur'],
    ['AF', '3.4', 'weur'],
    ['AS', '139.7', 'apac'],
    ['OC', '151.2', 'oc'],
    ['AN', undefined, 'oc'],
    ['T1', undefined, null],
    [undefined, undefined, null],
  ])('a caller in %s at longitude %s is near %s', (continent, longitude, region) => {
    expect(regionNear({ continent, longitude })).toBe(region);
  });
});
