"""Do private values come out? PIPP and ELP as published, the strict meter, labels, detections, planted canaries."""
