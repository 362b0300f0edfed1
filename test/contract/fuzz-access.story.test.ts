// @module-tag volume
import { fuzzRoutes } from '../support/fuzz/run.ts';

fuzzRoutes('access');
