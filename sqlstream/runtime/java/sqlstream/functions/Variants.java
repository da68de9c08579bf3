package sqlstream.functions;

import java.io.IOException;
import java.time.ZoneOffset;
import org.apache.spark.types.variant.Variant;
import org.apache.spark.types.variant.VariantBuilder;
import org.apache.spark.types.variant.VariantUtil;
import org.apache.spark.unsafe.types.UTF8String;
import org.apache.spark.unsafe.types.VariantVal;

/** PARSE_JSON, and what is inside of a VARIANT. */
public final class Variants {
    private Variants() {}

    @SqlFunction
    public static VariantVal parseJson(UTF8String text, boolean duplicates) {
        try {
            return value(VariantBuilder.parseJson(text.toString(), duplicates));
        } catch (IOException | RuntimeException e) {
            throw Failure.of("Failed to parse json string: " + text + ", exception: " + e.getMessage());
        }
    }

    @SqlFunction
    public static VariantVal tryParseJson(UTF8String text, boolean duplicates) {
        try {
            return value(VariantBuilder.parseJson(text.toString(), duplicates));
        } catch (IOException | RuntimeException e) {
            return null;
        }
    }

    /** The member of an object; NULL where there is none. */
    @SqlFunction
    public static VariantVal variantMember(VariantVal variant, UTF8String name) {
        Variant in = variant(variant);
        if (in.getType() != VariantUtil.Type.OBJECT) {
            throw Failure.of(
                    "String key access on variant requires an object variant, but a non-object variant was provided.");
        }
        return value(in.getFieldByKey(name.toString()));
    }

    /** The element of an array, counted from 1; NULL where there is none. */
    @SqlFunction
    public static VariantVal variantElement(VariantVal variant, int place) {
        Variant in = variant(variant);
        if (in.getType() != VariantUtil.Type.ARRAY) {
            throw Failure.of(
                    "Integer index access on variant requires an array variant, but a non-array variant was provided.");
        }
        return value(in.getElementAtIndex(place - 1));
    }

    /** As JSON. */
    @SqlFunction
    public static UTF8String variantText(VariantVal variant) {
        return UTF8String.fromString(variant(variant).toJson(ZoneOffset.UTC));
    }

    private static Variant variant(VariantVal value) {
        return new Variant(value.getValue(), value.getMetadata());
    }

    private static VariantVal value(Variant variant) {
        return variant == null ? null : new VariantVal(variant.getValue(), variant.getMetadata());
    }
}
