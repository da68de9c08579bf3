package sqlstream.functions;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.ExpressionInfo;
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.UTF8String;
import org.apache.spark.unsafe.types.VariantVal;
import scala.Tuple3;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;
import sqlstream.calls.JavaCall;
import sqlstream.catalyst.Scala;

/** Makes the functions that Spark lacks known to its SQL: every method with {@link SqlFunction} of these classes. */
public final class Functions {
    private static final List<Class<?>> CLASSES = List.of(
            RegularExpressions.class,
            SqlPatterns.class,
            TextFunctions.class,
            Encodings.class,
            Numbers.class,
            DateTexts.class,
            TimeUnits.class,
            JsonPaths.class,
            JsonTexts.class,
            JsonConstructors.class,
            Variants.class,
            Tasks.class,
            Fakes.class);

    private static final Map<Class<?>, DataType> TYPES = Map.of(
            UTF8String.class, DataTypes.StringType,
            Boolean.class, DataTypes.BooleanType,
            Integer.class, DataTypes.IntegerType,
            Long.class, DataTypes.LongType,
            Double.class, DataTypes.DoubleType,
            Float.class, DataTypes.FloatType,
            VariantVal.class, DataTypes.VariantType,
            byte[].class, DataTypes.BinaryType);

    private Functions() {}

    public static void register(SparkSessionExtensions extensions) {
        inject(extensions, JavaCall.class, "sqlstream_java", new JavaCall.Builder());
        for (Class<?> owner : CLASSES) {
            for (Method method : owner.getDeclaredMethods()) {
                SqlFunction declared = method.getAnnotation(SqlFunction.class);
                if (declared != null) {
                    String name = "sqlstream_"
                            + method.getName().replaceAll("([A-Z])", "_$1").toLowerCase();
                    inject(
                            extensions,
                            owner,
                            name,
                            new Call(owner, method.getName(), type(method, declared), declared));
                }
            }
        }
    }

    /** A function of SQL that makes an expression of its arguments. */
    private static void inject(
            SparkSessionExtensions extensions,
            Class<?> owner,
            String name,
            AbstractFunction1<Seq<Expression>, Expression> builder) {
        extensions.injectFunction(
                new Tuple3<>(new FunctionIdentifier(name), new ExpressionInfo(owner.getName(), name), builder));
    }

    private static DataType type(Method method, SqlFunction declared) {
        DataType found =
                declared.type().isEmpty() ? TYPES.get(method.getReturnType()) : DataType.fromDDL(declared.type());
        if (found == null) {
            throw new IllegalStateException("no type for " + method);
        }
        return found;
    }

    /** Arguments to a call of the method, in generated code too. */
    private static final class Call extends AbstractFunction1<Seq<Expression>, Expression> {
        private final Class<?> owner;
        private final String method;
        private final DataType type;
        private final SqlFunction declared;

        Call(Class<?> owner, String method, DataType type, SqlFunction declared) {
            this.owner = owner;
            this.method = method;
            this.type = type;
            this.declared = declared;
        }

        @Override
        public Expression apply(Seq<Expression> arguments) {
            return new StaticInvoke(
                    owner,
                    type,
                    method,
                    arguments,
                    Scala.seq(new ArrayList<>()),
                    !declared.nulls(),
                    true,
                    declared.deterministic(),
                    scala.Option.empty());
        }
    }
}
