/** Makes models and reads them. */
export {
  /** The configuration that the options of a model set. */
  configFromOptions,
} from "../models/model-options.js";
export {
  /** Whether the code runs in a page or a worker of a browser. */
  isBrowser,
  /** The parts of a model; undefined for any other value. */
  modelParts,
  /** The configuration and the functions of a model. */
  type ModelParts,
  /** Makes a model of its parts, which it hides. */
  sealModel,
  /** Makes the model of a vendor that speaks a protocol of the engine. */
  vendorModel,
} from "../models/models.js";
export {
  /** A price in billionths of a dollar. */
  nanoPrice,
} from "../models/nano-price.js";
