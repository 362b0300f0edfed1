/** The part of the package that local/assets/fonts.ts uses. It ships no types of its own. */
declare module 'subset-font' {
  export default function subsetFont(
    font: Uint8Array,
    text: string,
    options: {
      targetFormat: 'sfnt';
      noHinting?: boolean;
      keepFeatures?: string[];
      dropTables?: string[];
      variationAxes?: Record<string, number>;
    },
  ): Promise<Uint8Array>;
}
