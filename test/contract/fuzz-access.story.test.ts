// @module-tag volume
import { fuzzRoutes } from '../world/fuzz/run.ts';

fuzzRoutes('access');
